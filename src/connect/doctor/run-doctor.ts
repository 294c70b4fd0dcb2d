import { randomUUID } from 'node:crypto'
import {
  badFinding,
  type ConfigLevel,
  type HostFinding,
  type HostPaths,
  warnFinding,
} from '../../agents/agent-host.ts'
import { DOCTOR_SESSION_PREFIX } from '../../agents/doctor-session.ts'
import { findProfile } from '../../agents/table.ts'
import { type ConnectedAgent, findConnections } from '../find-connections.ts'
import { type BrokenGateways, openBrokenGateways } from './broken-gateways.ts'
import { checkEntries } from './check-entries.ts'
import { type ProbedGateway, probeBroken, probeLive } from './probe-commands.ts'
import { probePlugin } from './probe-plugin.ts'

/** One finding of the doctor, with the connection it concerns. */
export interface DoctorCheck extends HostFinding {
  /** Undefined for the gateway itself. */
  readonly agent?: string
  readonly level?: ConfigLevel
}

export interface DoctorOptions {
  readonly paths: HostPaths
  readonly dataFolder: string
  /** The agents to check. If omitted, all that are connected. */
  readonly names?: readonly string[]
  readonly gateway: ProbedGateway
  /** The client that `connect` would use today. */
  readonly client: { readonly command: readonly string[] }
}

/** Tests every connection by running the commands and plugins that the configurations name. */
export async function runDoctor(options: DoctorOptions): Promise<readonly DoctorCheck[]> {
  const { paths, dataFolder, names } = options
  const { connected, unreadable } = findConnections(paths, dataFolder, names)
  const broken = await openBrokenGateways()
  try {
    const checks: DoctorCheck[] = unreadable.map(({ agent, level, problem, hint }) => ({
      agent,
      level,
      ...badFinding(problem, hint),
    }))
    for (const each of connected) {
      const findings = await checkConnection(each, options, broken)
      checks.push(...findings.map((finding) => ({ agent: each.agent, level: each.level, ...finding })))
    }
    return [...checks, ...notConnected(connected, names)]
  } finally {
    broken.close()
  }
}

async function checkConnection(
  connected: ConnectedAgent,
  { paths, dataFolder, gateway, client }: DoctorOptions,
  broken: BrokenGateways,
): Promise<readonly HostFinding[]> {
  const { agent, level, file, commands, hooks, plugin } = connected
  const profile = findProfile(agent)
  if (profile === undefined) return []
  const { host, adapter } = profile
  const session = `${DOCTOR_SESSION_PREFIX}${randomUUID()}`
  const configFindings = [
    ...host.findDisabled(paths, { level, file }),
    ...host.findUntrusted(paths, { level, file }, hooks),
    ...otherLevels(connected, findConnections(paths, dataFolder, [agent]).connected),
  ]
  if (host.transport === 'plugin')
    return [
      ...configFindings,
      ...(await probePlugin({ agent, file: plugin ?? file, paths, session }, gateway, broken)),
    ]
  const context = { host, paths, session }
  return [
    ...checkEntries(connected, { host, adapter }, client),
    ...configFindings,
    ...(await probeLive(commands, context, gateway)),
    ...(await probeBroken(commands, context, broken)),
  ]
}

/** An agent runs the hooks of all its files. */
function otherLevels({ file, level }: ConnectedAgent, all: readonly ConnectedAgent[]): HostFinding[] {
  const others = all.filter((other) => other.file !== file)
  return others.map((other) =>
    warnFinding(
      `also connected at the level ${other.level} (${other.file}), so every hook runs twice`,
      `Run \`hookhelm disconnect\` for one of them: ${level} or ${other.level}.`,
    ),
  )
}

function notConnected(
  connected: readonly ConnectedAgent[],
  names: readonly string[] | undefined,
): DoctorCheck[] {
  return (names ?? [])
    .filter((name) => !connected.some(({ agent }) => agent === name))
    .map((agent) => ({ agent, ...badFinding('is not connected', `Run \`hookhelm connect ${agent}\`.`) }))
}
