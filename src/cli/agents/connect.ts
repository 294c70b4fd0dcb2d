import { isAbsolute, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { AgentConfigFile, AgentHost } from '../../agents/agent-host.ts'
import { chooseClient } from '../../agents/client/find-client.ts'
import { agentProfiles, findAdapter } from '../../agents/table.ts'
import { connect, planConnection } from '../../connect/connection.ts'
import { findConnections } from '../../connect/find-connections.ts'
import type { ConnectSettings } from '../../connect/hook-command.ts'
import { findProgram } from '../../connect/installed-agent.ts'
import { pingSocket } from '../../connect/ping-socket.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { command, exitCodes, type Flags } from '../command.ts'
import { printMessage, printOutput } from '../output.ts'
import { packageVersion } from '../package-version.ts'
import {
  type AgentSelection,
  agentLevelArgs,
  defaultSocket,
  requireHost,
  resolveSelection,
  selectConfigFile,
  splitAgentNames,
} from './agent-selection.ts'
import { type ConnectResult, changesText, reportOf, reportText } from './connect-report.ts'

const agentNames = agentProfiles.map(({ adapter }) => adapter.name)

export const connectCommand = command({
  args: {
    agent: { type: 'positional', required: false, description: agentNames.join(', ') },
    ...agentLevelArgs,
    'dry-run': { type: 'boolean', description: 'report the changes without making them' },
    'fail-open': { type: 'boolean', description: 'let calls pass when the gateway does not answer' },
    timeout: { type: 'string', description: 'seconds that hooks may take to answer (default 60)' },
    wait: { type: 'string', description: 'seconds that a call waits for a person (default 600)' },
    'all-events': {
      type: 'boolean',
      description: 'also connect events that are very frequent or unknown to Hookhelm',
    },
    socket: { type: 'string', description: 'socket of the gateway, if it is not the default one' },
    client: {
      type: 'enum',
      options: ['native', 'node'],
      description: 'the client that the agent starts (default: the fastest one available)',
    },
  },
  manyWords: true,
  async run(args, rest) {
    const { names, folder } = splitAgentNames(rest)
    const selection = resolveSelection(args, folder)
    const chosen = names.length > 0 ? names : await askForAgents(selection)
    if (chosen.length === 0) return exitCodes.ok
    const settings = settingsOf(args, selection)
    const dryRun = args['dry-run'] === true
    // Check all names before the first change.
    const all = chosen.map(requireHost).map((host) => ({ host, config: selectConfigFile(host, selection) }))
    const flags = recordedFlags(args)
    const done = all.map(({ host, config }) =>
      connectOne(host, config, { settings, selection, dryRun, flags }),
    )
    if (args.json) printOutput(done.map((each) => reportOf(each, selection)))
    else if (dryRun) for (const { changes } of done) printOutput(changesText(changes))
    else for (const each of done) printMessage(reportText(each, reportOf(each, selection)))
    if (!dryRun && !(await pingSocket(settings.socket))) warnDown(settings)
    return exitCodes.ok
  },
})

interface Task {
  readonly settings: ConnectSettings
  readonly selection: AgentSelection
  readonly dryRun: boolean
  readonly flags: readonly string[]
}

function connectOne(
  host: AgentHost,
  config: AgentConfigFile,
  { settings, selection, dryRun, flags }: Task,
): ConnectResult {
  const adapter = findAdapter(host.agent)
  if (adapter === undefined) throw serverError('connect.agent', `${host.agent} cannot be connected yet`)
  const request = {
    host,
    adapter,
    config,
    dataFolder: selection.dataFolder,
    settings,
    version: packageVersion(),
    flags,
  }
  const changes = connect(planConnection(request), { dryRun })
  return { host, adapter, config, settings, changes }
}

type ConnectFlags = Flags<'timeout' | 'wait' | 'socket', 'fail-open' | 'all-events'> & {
  readonly client?: 'native' | 'node' | undefined
}

/** The flags that change what is written, in the form that a person would type. */
function recordedFlags(args: ConnectFlags): readonly string[] {
  const withValue = (['timeout', 'wait', 'socket', 'client'] as const).flatMap((name) => {
    const value = args[name]
    return value === undefined ? [] : [`--${name}`, value]
  })
  const switches = (['fail-open', 'all-events'] as const).filter((name) => args[name] === true)
  return [...withValue, ...switches.map((name) => `--${name}`)]
}

function settingsOf(args: ConnectFlags, { paths, dataFolder }: AgentSelection): ConnectSettings {
  const timeoutMs = milliseconds('timeout', args.timeout ?? '60', { least: 2, most: 600 })
  const waitMs = milliseconds('wait', args.wait ?? '600', { least: 0, most: 3_600 })
  const socket = args.socket ?? defaultSocket(paths.env)
  if (!isAbsolute(socket)) throw serverError('gateway.setting', '--socket must be an absolute path')
  return {
    client: chooseClient(args.client),
    socket,
    spool: join(dataFolder, 'spool'),
    failOpen: args['fail-open'] === true,
    timeoutMs,
    waitMs,
    allEvents: args['all-events'] === true,
  }
}

function milliseconds(
  flag: string,
  value: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const seconds = value === '' ? Number.NaN : Number(value)
  if (seconds >= least && seconds <= most) return seconds * 1_000
  throw serverError('gateway.setting', `--${flag} must be a number of seconds from ${least} to ${most}`)
}

function warnDown({ socket, failOpen }: ConnectSettings): void {
  printMessage(
    failOpen
      ? `! no gateway listens on ${socket}: no hook runs until you start it with \`hookhelm up\``
      : `! no gateway listens on ${socket}: every call is blocked until you start it with \`hookhelm up\``,
  )
}

/** Asks which of the installed agents to connect. Without a terminal, prints the command to run. */
async function askForAgents({ paths, dataFolder }: AgentSelection): Promise<readonly string[]> {
  const found = agentProfiles
    .filter(({ host }) => findProgram(host, paths.env) !== undefined)
    .map(({ adapter }) => adapter.name)
  if (found.length === 0) {
    printMessage(`no coding agent found; Hookhelm supports ${agentNames.join(', ')}`)
    return []
  }
  const { connected } = findConnections(paths, dataFolder)
  const isConnected = (name: string) => connected.some(({ agent }) => agent === name)
  for (const name of found) printMessage(`  ${name}${isConnected(name) ? '  (connected)' : ''}`)
  const open = found.filter((name) => !isConnected(name))
  if (open.length === 0 || !process.stdin.isTTY || !process.stderr.isTTY) {
    printMessage(`connect with: hookhelm connect ${open.join(' ') || found.join(' ')}`)
    return []
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = (await asking.question(`connect which? [${open.join(' ')}, or all] `)).trim()
    return answer === 'all' ? open : answer.split(/[\s,]+/).filter((word) => word !== '')
  } finally {
    asking.close()
  }
}
