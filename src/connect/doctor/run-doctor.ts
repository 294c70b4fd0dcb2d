import { randomUUID } from 'node:crypto'
import {
  type AgentHost,
  badFinding,
  type ConfigLevel,
  type HostFinding,
  type HostPaths,
  okFinding,
  warnFinding,
} from '../../agents/agent-host.ts'
import { findProfile } from '../../agents/table.ts'
import { DOCTOR_SESSION_PREFIX } from '../../engine/core/context.ts'
import { backupFolder, listBackups } from '../backup.ts'
import { connectLine } from '../connect-line.ts'
import { type ConnectedAgent, findConnections } from '../find-connections.ts'
import { type BrokenGateways, openBrokenGateways } from './broken-gateways.ts'
import { checkEntries } from './check-entries.ts'
import { findLostConnections } from './find-lost-connections.ts'
import { type ProbedGateway, probeBroken, probeLive } from './probe-commands.ts'
import { probePlugin } from './probe-plugin.ts'

/** One finding of the doctor, with the connection it concerns. */
export interface DoctorCheck extends HostFinding {
  /** Undefined for the gateway itself, and for hook files. */
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
    const lost = findLostConnections(options)
    const known = [...connected, ...lost].flatMap(({ agent }) => agent ?? [])
    return [...checks, ...lost, ...notConnected(known, names)]
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
  const reconnect = `Run \`${reconnectLine(connected, paths, dataFolder)}\`.`
  const configFindings = [
    ...host.findDisabled(paths, { level, file }),
    ...host.findUntrusted(paths, { level, file }, hooks),
    ...otherLevels(connected, findConnections(paths, dataFolder, [agent]).connected, paths),
    ...sharedFiles(host, paths, findConnections(paths, dataFolder).connected),
  ]
  if (host.transport === 'plugin')
    return [
      ...configFindings,
      ...(await probePlugin({ agent, file: plugin ?? file, paths, session, reconnect }, gateway, broken)),
    ]
  const context = { host, paths, session, reconnect }
  return [
    ...checkEntries(connected, { host, adapter, client, reconnect }),
    ...configFindings,
    ...(await probeLive(commands, context, gateway)),
    ...(await probeBroken(commands, context, broken)),
  ]
}

/** An agent runs the hooks of all its files. */
function otherLevels(
  { agent, file, level }: ConnectedAgent,
  all: readonly ConnectedAgent[],
  paths: HostPaths,
): HostFinding[] {
  const others = all.filter((other) => other.file !== file)
  return others.map((other) =>
    warnFinding(
      `also connected at the level ${other.level} (${other.file}), so every hook runs twice`,
      `Run \`${connectLine('disconnect', { agent, config: { level, file }, paths })}\` to keep only the other one.`,
    ),
  )
}

/** An agent that also runs the hooks of another agent's file. */
function sharedFiles(host: AgentHost, paths: HostPaths, all: readonly ConnectedAgent[]): HostFinding[] {
  const files = host.alsoReads?.(paths) ?? []
  return all
    .filter(({ agent, file }) => agent !== host.agent && files.includes(file))
    .map(({ file }) => okFinding(`also runs the hooks of ${file}; a call that both report is one event`))
}

/** The command that writes the entries again, with the flags of the first time. */
function reconnectLine({ agent, level, file }: ConnectedAgent, paths: HostPaths, dataFolder: string): string {
  const { backups } = listBackups(backupFolder(dataFolder))
  const { flags = [] } = backups.find((known) => known.agent === agent && known.file === file) ?? {}
  return connectLine('connect', { agent, config: { level, file }, paths, flags })
}

function notConnected(connected: readonly string[], names: readonly string[] | undefined): DoctorCheck[] {
  return (names ?? [])
    .filter((name) => !connected.includes(name))
    .map((agent) => ({ agent, ...badFinding('is not connected', `Run \`hookhelm connect ${agent}\`.`) }))
}
