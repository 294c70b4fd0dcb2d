import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { AgentAdapter } from '../../agents/agent-adapter.ts'
import {
  badFinding,
  type CommandHost,
  type HostFinding,
  okFinding,
  warnFinding,
} from '../../agents/agent-host.ts'
import type { AgentProfile } from '../../agents/agent-profile.ts'
import type { ConnectedAgent } from '../find-connections.ts'
import { flagValue, isGateEvent, type WrittenHookCommand } from '../hook-command.ts'
import { isExecutableFile } from '../installed-agent.ts'

const RECONNECT = 'Run `hookhelm connect` again.'

/** Checks the entries of a configuration without running them. */
export function checkEntries(
  connected: ConnectedAgent,
  { host, adapter }: Pick<AgentProfile, 'adapter'> & { readonly host: CommandHost },
  client: { readonly command: readonly string[] },
): HostFinding[] {
  return [
    ...checkReadable(connected),
    ...checkClients(connected, client.command),
    ...checkBudgets(connected.commands),
    ...checkClosing(connected, host),
    ...checkMissing(connected, adapter),
    ...checkDuplicates(connected),
  ]
}

function checkReadable({ unreadable: why }: ConnectedAgent): HostFinding[] {
  return why === undefined
    ? []
    : [badFinding(`${why}, which makes the agent ignore the whole file: no hook in it runs`, 'Remove it.')]
}

/** Every program that the entries start must exist, be executable, and belong to this user or root. */
function checkClients({ commands: written }: ConnectedAgent, current: readonly string[]): HostFinding[] {
  const commands = new Map(written.map(({ argv }) => [programOf(argv).join(' '), programOf(argv)]))
  return [...commands.values()].flatMap((command) => {
    const [program = '', script] = command
    const problems = [program, ...(script === undefined ? [] : [script])].flatMap((path) =>
      checkProgram(path, path === program),
    )
    if (problems.length > 0) return problems
    const isOld = command.join(' ') !== current.join(' ')
    return [
      okFinding(`the client is executable: ${script ?? program}`),
      ...(isOld ? [warnFinding(`a newer client exists: ${current.at(-1)}`, RECONNECT)] : []),
    ]
  })
}

/** The client, after its interpreter if it has one. */
function programOf(argv: readonly string[]): readonly string[] {
  return argv.slice(0, argv.findIndex((word) => /^hookhelm-hook/.test(basename(word))) + 1)
}

function checkProgram(path: string, mustRun: boolean): HostFinding[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return [badFinding(`${path} does not exist, so every gate blocks`, RECONNECT)]
  if (mustRun && !isExecutableFile(path))
    return [badFinding(`${path} cannot be executed`, `Run \`chmod u+x ${path}\`.`)]
  const uid = process.getuid?.()
  if (uid !== undefined && found.uid !== uid && found.uid !== 0)
    return [
      badFinding(
        `${path} belongs to user ${found.uid}, who can change it`,
        'Install it as yourself or as root.',
      ),
    ]
  return (found.mode & 0o002) === 0
    ? []
    : [badFinding(`every user may write to ${path}`, `Run \`chmod o-w ${path}\`.`)]
}

/** An agent lets a call pass when it ends the hook itself, so the client must give up first. */
function checkBudgets(commands: readonly WrittenHookCommand[]): HostFinding[] {
  const late = commands.filter((command) => {
    const within = Number(flagValue(command, '--within') ?? 55_000)
    return command.timeoutMs !== undefined && !(within < command.timeoutMs)
  })
  return late.length === 0
    ? [okFinding('the client gives up before the agent does')]
    : [
        badFinding(
          `${names(late)}: the client does not give up before the agent does, and the agent then lets the call pass`,
          RECONNECT,
        ),
      ]
}

function checkClosing({ hooks, commands }: ConnectedAgent, { closing }: CommandHost): HostFinding[] {
  const open = commands.filter(({ isGate, failOpen }, index) => {
    const value = hooks[index]?.value ?? {}
    return isGate && !failOpen && Object.entries(closing).some(([key, wanted]) => value[key] !== wanted)
  })
  const [key] = Object.keys(closing)
  return open.length === 0
    ? []
    : [badFinding(`${names(open)}: ${key} is missing, so a crash lets the call pass`, RECONNECT)]
}

/** Gates of the agent that are not connected, or only for some tools. */
function checkMissing({ commands, hooks }: ConnectedAgent, { events }: AgentAdapter): HostFinding[] {
  const connected = new Set(commands.map(({ event }) => event))
  const open = Object.entries(events)
    .filter(([event, row]) => isGateEvent(row) && row.chatty !== true && !connected.has(event))
    .map(([event]) => event)
  const narrow = hooks.filter(({ matcher }) => matcher !== undefined && matcher !== '' && matcher !== '*')
  return [
    ...(open.length === 0
      ? []
      : [badFinding(`${open.join(', ')}: not connected, so nothing can block it`, RECONNECT)]),
    ...narrow.map(({ event, matcher }) =>
      warnFinding(
        `${event}: only calls that match ${JSON.stringify(matcher)} pass the hooks`,
        'Remove the matcher.',
      ),
    ),
  ]
}

function checkDuplicates({ commands }: ConnectedAgent): HostFinding[] {
  const duplicates = commands.filter(
    ({ event }, index) => commands.findIndex((other) => other.event === event) !== index,
  )
  return duplicates.length === 0
    ? []
    : [badFinding(`${names(duplicates)}: listed twice, so hooks run twice`, RECONNECT)]
}

function names(commands: readonly WrittenHookCommand[]): string {
  return commands.map(({ event }) => event).join(', ')
}
