import { isAbsolute, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { ConnectSettings } from '../agents/connect/call-plan.ts'
import { chooseClient } from '../agents/connect/choose-client.ts'
import { wantedConnection } from '../agents/connect/connectable.ts'
import { connect } from '../agents/connect/connection.ts'
import type { Host, Place } from '../agents/connect/host.ts'
import { hosts } from '../agents/connect/hosts/table.ts'
import { installed } from '../agents/connect/installed.ts'
import { answers } from '../agents/connect/knock.ts'
import { connectedAgents } from '../agents/connect/state.ts'
import { agentNamed } from '../agents/table.ts'
import { serverError } from '../engine/core/server-errors.ts'
import { defaultSocket, type Meant, meantBy, named, placeArgs, placeOf, requireHost } from './agent-places.ts'
import { changesText } from './changes-text.ts'
import { command, exitCodes } from './command.ts'
import { type Done, reportOf, reportText } from './connect-report.ts'
import { printMessage, printOutput } from './output.ts'
import { packageVersion } from './package-version.ts'

export const connectCommand = command({
  args: {
    agent: { type: 'positional', required: false, description: hosts.map(({ agent }) => agent).join(', ') },
    ...placeArgs,
    'dry-run': { type: 'boolean', description: 'report the changes without making them' },
    'fail-open': { type: 'boolean', description: 'allow calls while the gateway does not answer' },
    timeout: { type: 'string', description: 'seconds the agent waits for an answer (60)' },
    'all-events': {
      type: 'boolean',
      description: 'include very frequent events, and events that Hookhelm has no name for',
    },
    socket: { type: 'string', description: 'socket of the gateway (default: the one on this machine)' },
    client: {
      type: 'enum',
      options: ['native', 'node'],
      description: 'client program (default: native if available)',
    },
  },
  async run(args, rest) {
    const { names, folder } = named(rest)
    const meant = meantBy(args, folder)
    const chosen = names.length > 0 ? names : await askWhich(meant)
    if (chosen.length === 0) return exitCodes.ok
    const settings = settingsOf(args, meant)
    const dryRun = args['dry-run'] === true
    // Check every name before changing the first configuration.
    const all = chosen.map(requireHost).map((host) => ({ host, place: placeOf(host, meant) }))
    const done = all.map(({ host, place }) => connectOne(host, place, { settings, meant, dryRun }))
    if (args.json) printOutput(done.map((each) => reportOf(each, meant)))
    else if (dryRun) for (const { changes } of done) printOutput(changesText(changes))
    else for (const each of done) printMessage(reportText(each, reportOf(each, meant)))
    if (!dryRun && !(await answers(settings.socket))) warnDown(settings)
    return exitCodes.ok
  },
})

interface Task {
  readonly settings: ConnectSettings
  readonly meant: Meant
  readonly dryRun: boolean
}

function connectOne(host: Host, place: Place, { settings, meant, dryRun }: Task): Done {
  const adapter = agentNamed(host.agent)
  if (adapter === undefined) throw serverError('connect.agent', `${host.agent} cannot be connected yet`)
  const wanted = { host, adapter, place, dataFolder: meant.dataFolder, settings, version: packageVersion() }
  const changes = connect(wantedConnection(wanted), { dryRun })
  return { host, adapter, place, settings, changes }
}

function settingsOf(
  args: {
    readonly timeout?: string | undefined
    readonly socket?: string | undefined
    readonly client?: 'native' | 'node' | undefined
    readonly 'fail-open'?: boolean | undefined
    readonly 'all-events'?: boolean | undefined
  },
  { where, dataFolder }: Meant,
): ConnectSettings {
  const seconds = args.timeout === undefined ? 60 : Number(args.timeout)
  if (!Number.isFinite(seconds) || seconds < 2 || seconds > 600)
    throw serverError('gateway.setting', '--timeout must be a number of seconds from 2 to 600')
  const socket = args.socket ?? defaultSocket(where.env)
  if (!isAbsolute(socket)) throw serverError('gateway.setting', '--socket must be an absolute path')
  return {
    client: chooseClient(args.client),
    socket,
    spool: join(dataFolder, 'spool'),
    failOpen: args['fail-open'] === true,
    timeoutMs: seconds * 1_000,
    allEvents: args['all-events'] === true,
  }
}

function warnDown({ socket, failOpen }: ConnectSettings): void {
  printMessage(
    failOpen
      ? `! no gateway listens on ${socket}: no hook runs until you start \`hookhelm up\``
      : `! no gateway listens on ${socket}: every call is blocked until you start \`hookhelm up\``,
  )
}

/** Lists the installed agents and asks a person which to connect; without a terminal it prints the command. */
async function askWhich({ where, dataFolder }: Meant): Promise<readonly string[]> {
  const found = hosts.filter((host) => installed(host, where.env) !== undefined).map(({ agent }) => agent)
  if (found.length === 0) {
    printMessage(
      `no coding agent found on this machine; supported are ${hosts.map(({ agent }) => agent).join(', ')}`,
    )
    return []
  }
  const { connected } = connectedAgents(where, dataFolder)
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
