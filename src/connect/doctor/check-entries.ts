import { statSync } from 'node:fs'
import { basename } from 'node:path'
import {
  badFinding,
  type CommandHost,
  type HostFinding,
  okFinding,
  warnFinding,
} from '../../agents/agent-host.ts'
import type { AgentProfile } from '../../agents/agent-profile.ts'
import { narrowMatcher } from '../config-target.ts'
import type { ConnectedAgent } from '../find-connections.ts'
import { flagValue, isGateEvent, type WrittenHookCommand } from '../hook-command.ts'
import { isExecutableFile } from '../installed-agent.ts'

export interface EntryChecks extends Pick<AgentProfile, 'adapter'> {
  readonly host: CommandHost
  /** The client that `connect` would use today. */
  readonly client: { readonly command: readonly string[] }
  /** What to do to have the entries written again. */
  readonly reconnect: string
}

/** Checks the entries of a configuration without running them. */
export function checkEntries(connected: ConnectedAgent, checks: EntryChecks): HostFinding[] {
  return [
    ...checkReadable(connected),
    ...checkClients(connected, checks),
    ...checkBudgets(connected.commands, checks),
    ...checkClosing(connected, checks),
    ...checkFields(connected, checks),
    ...checkMissing(connected, checks),
    ...checkDuplicates(connected, checks),
  ]
}

function checkReadable({ unreadable: why }: ConnectedAgent): HostFinding[] {
  return why === undefined
    ? []
    : [badFinding(`${why}, which makes the agent ignore the whole file: no hook in it runs`, 'Remove it.')]
}

/** Every program that the entries start must exist, be executable, and belong to this user or root. */
function checkClients(
  { commands: written }: ConnectedAgent,
  { client: { command: current }, reconnect }: EntryChecks,
): HostFinding[] {
  const commands = new Map(written.map(({ argv }) => [programOf(argv).join(' '), programOf(argv)]))
  return [...commands.values()].flatMap((command) => {
    const [program = '', script] = command
    const problems = [program, ...(script === undefined ? [] : [script])].flatMap((path) =>
      checkProgram(path, path === program, reconnect),
    )
    if (problems.length > 0) return problems
    const isOld = command.join(' ') !== current.join(' ')
    return [
      okFinding(`the client is executable: ${script ?? program}`),
      ...(isOld ? [warnFinding(`a newer client exists: ${current.at(-1)}`, reconnect)] : []),
    ]
  })
}

/** The client, after its interpreter if it has one. */
function programOf(argv: readonly string[]): readonly string[] {
  return argv.slice(0, argv.findIndex((word) => /^hookhelm-hook/.test(basename(word))) + 1)
}

function checkProgram(path: string, mustRun: boolean, reconnect: string): HostFinding[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return [badFinding(`${path} does not exist, so every gate blocks`, reconnect)]
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
function checkBudgets(commands: readonly WrittenHookCommand[], { reconnect }: EntryChecks): HostFinding[] {
  const late = commands.filter((command) => {
    const within = Number(flagValue(command, '--within') ?? 55_000)
    const longest = Math.max(within, Number(flagValue(command, '--wait') ?? 0))
    return command.timeoutMs !== undefined && !(longest < command.timeoutMs)
  })
  return late.length === 0
    ? [okFinding('the client gives up before the agent does')]
    : [
        badFinding(
          `${names(late)}: the client does not give up before the agent does, and the agent then lets the call pass`,
          reconnect,
        ),
      ]
}

function checkClosing(
  { hooks, commands }: ConnectedAgent,
  { host: { closing }, reconnect }: EntryChecks,
): HostFinding[] {
  const open = commands.filter(({ isGate, failOpen }, index) => {
    const value = hooks[index]?.value ?? {}
    return isGate && !failOpen && Object.entries(closing).some(([key, wanted]) => value[key] !== wanted)
  })
  const [key] = Object.keys(closing)
  return open.length === 0
    ? []
    : [badFinding(`${names(open)}: ${key} is missing, so a crash lets the call pass`, reconnect)]
}

/** Fields of an entry that keep calls from the hooks, or let them pass before the hooks answer. */
const harmfulFields: Readonly<Record<string, string>> = {
  async: 'the agent does not wait for the answer',
  asyncRewake: 'the agent does not wait for the answer',
  if: 'only some calls pass the hooks',
  once: 'only the first call passes the hooks',
  args: 'other agents that read this file start the command without them, and every call fails there',
}

function checkFields({ hooks }: ConnectedAgent, { host, reconnect }: EntryChecks): HostFinding[] {
  return hooks.flatMap(({ event, value }) => {
    const harmful = Object.entries(harmfulFields).filter(([field]) => Boolean(value[field]))
    const changed = Object.entries(host.always).filter(([field, wanted]) => value[field] !== wanted)
    return [
      ...harmful.map(([field, effect]) =>
        badFinding(`${event}: the entry has ${quoteField(field, value)}, so ${effect}`, reconnect),
      ),
      ...changed.map(([field]) =>
        badFinding(
          `${event}: the entry has ${quoteField(field, value)}, which Hookhelm did not write`,
          reconnect,
        ),
      ),
    ]
  })
}

function quoteField(field: string, value: Readonly<Record<string, unknown>>): string {
  return `"${field}": ${(JSON.stringify(value[field]) ?? 'nothing').slice(0, 80)}`
}

/** Gates of the agent that are not connected, only observed, or only for some tools. */
function checkMissing(
  { commands, hooks }: ConnectedAgent,
  { adapter: { events }, reconnect }: EntryChecks,
): HostFinding[] {
  const connected = new Set(commands.map(({ event }) => event))
  const gates = Object.entries(events).filter(([, row]) => isGateEvent(row))
  const open = gates
    .filter(([event, row]) => row.chatty !== true && !connected.has(event))
    .map(([event]) => event)
  const observed = commands.filter(({ event, isGate }) => !isGate && gates.some(([gate]) => gate === event))
  const narrow = hooks.filter((hook) => narrowMatcher(hook) !== undefined)
  return [
    ...(open.length === 0
      ? []
      : [badFinding(`${open.join(', ')}: not connected, so nothing can block it`, reconnect)]),
    ...observed.map(({ event }) =>
      badFinding(`${event}: the command has --observe, so no hook can block`, reconnect),
    ),
    ...narrow.map(({ event, matcher }) =>
      badFinding(`${event}: only calls that match ${JSON.stringify(matcher)} pass the hooks`, reconnect),
    ),
  ]
}

function checkDuplicates({ commands }: ConnectedAgent, { reconnect }: EntryChecks): HostFinding[] {
  const duplicates = commands.filter(
    ({ event }, index) => commands.findIndex((other) => other.event === event) !== index,
  )
  return duplicates.length === 0
    ? []
    : [badFinding(`${names(duplicates)}: listed twice, so hooks run twice`, reconnect)]
}

function names(commands: readonly WrittenHookCommand[]): string {
  return commands.map(({ event }) => event).join(', ')
}
