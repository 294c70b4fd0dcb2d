import { randomUUID } from 'node:crypto'
import { agentNamed } from '../../agents/table.ts'
import type { ClientProgram } from '../call-plan.ts'
import type { Finding, Where } from '../host.ts'
import { hostNamed } from '../hosts/table.ts'
import { type Connected, connectedAgents } from '../state.ts'
import { bad, type Check, doubtful } from './check.ts'
import { lookAtEntries } from './look-at-entries.ts'
import { type Gateway, probeBroken, probeLive } from './probe-calls.ts'
import { probePlugin } from './probe-plugin.ts'
import { type BrokenGateways, openBrokenGateways } from './silent-socket.ts'

export interface Examination {
  readonly where: Where
  readonly dataFolder: string
  /** All that are connected, if omitted. */
  readonly names?: readonly string[]
  readonly gateway: Gateway
  /** The client that would be written today. */
  readonly client: ClientProgram
}

/** Tries every connection there is, through the very commands that stand in the configurations. */
export async function examine(examination: Examination): Promise<readonly Check[]> {
  const { where, dataFolder, names } = examination
  const { connected, unreadable } = connectedAgents(where, dataFolder, names)
  const broken = await openBrokenGateways()
  try {
    const checks: Check[] = unreadable.map(({ agent, level, problem, hint }) => ({
      agent,
      level,
      ...bad(problem, hint),
    }))
    for (const each of connected) {
      const findings = await examineOne(each, examination, broken)
      checks.push(...findings.map((finding) => ({ agent: each.agent, level: each.level, ...finding })))
    }
    return [...checks, ...missing(connected, names)]
  } finally {
    broken.close()
  }
}

async function examineOne(
  connected: Connected,
  { where, dataFolder, gateway, client }: Examination,
  broken: BrokenGateways,
): Promise<readonly Finding[]> {
  const { agent, level, file, calls, hooks, plugin } = connected
  const host = hostNamed(agent)
  const adapter = agentNamed(agent)
  if (host === undefined || adapter === undefined) return []
  const session = `hookhelm-doctor-${randomUUID()}`
  const effective = [
    ...host.switchedOff(where, { level, file }),
    ...host.untrusted(where, { level, file }, hooks),
    ...twoLevels(connected, connectedAgents(where, dataFolder, [agent]).connected),
  ]
  if (host.transport === 'plugin')
    return [
      ...effective,
      ...(await probePlugin({ agent, file: plugin ?? file, where, session }, gateway, broken)),
    ]
  const stage = { host, where, session }
  return [
    ...lookAtEntries(connected, host, adapter, client),
    ...effective,
    ...(await probeLive(calls, stage, gateway)),
    ...(await probeBroken(calls, stage, broken)),
  ]
}

/** Agents add up the hooks of all their files. */
function twoLevels({ file, level }: Connected, all: readonly Connected[]): Finding[] {
  const others = all.filter((other) => other.file !== file)
  return others.map((other) =>
    doubtful(
      `also connected at the level ${other.level} (${other.file}), so every hook runs twice`,
      `Run \`hookhelm disconnect\` for one of both: ${level} or ${other.level}.`,
    ),
  )
}

function missing(connected: readonly Connected[], names: readonly string[] | undefined): Check[] {
  return (names ?? [])
    .filter((name) => !connected.some(({ agent }) => agent === name))
    .map((agent) => ({ agent, ...bad('is not connected', `Run \`hookhelm connect ${agent}\`.`) }))
}
