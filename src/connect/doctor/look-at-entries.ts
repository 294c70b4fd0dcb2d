import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { AgentAdapter } from '../../agents/agent.ts'
import { flagOf, type WrittenCall } from '../call-entry.ts'
import { isGateRow } from '../call-plan.ts'
import type { CommandHost, Finding } from '../host.ts'
import { isExecutable } from '../installed.ts'
import type { Connected } from '../state.ts'
import { bad, doubtful, good } from './check.ts'

const AGAIN = 'Run `hookhelm connect` again.'

/** What can be seen without running anything. */
export function lookAtEntries(
  connected: Connected,
  host: CommandHost,
  adapter: AgentAdapter,
  client: { readonly command: readonly string[] },
): Finding[] {
  return [
    ...unread(connected),
    ...clients(connected, client.command),
    ...budgets(connected.calls),
    ...closings(connected, host),
    ...missing(connected, adapter),
    ...twice(connected),
  ]
}

function unread({ unread: why }: Connected): Finding[] {
  return why === undefined
    ? []
    : [bad(`${why}, which makes the agent ignore the whole file: no hook in it is used`, 'Take it out.')]
}

/** Every program that the entries start: there, to be run, and nobody else's. */
function clients({ calls }: Connected, current: readonly string[]): Finding[] {
  const commands = new Map(calls.map(({ argv }) => [programOf(argv).join(' '), programOf(argv)]))
  return [...commands.values()].flatMap((command) => {
    const [program = '', script] = command
    const wrong = [program, ...(script === undefined ? [] : [script])].flatMap((path) =>
      trouble(path, path === program),
    )
    if (wrong.length > 0) return wrong
    const isOld = command.join(' ') !== current.join(' ')
    return [
      good(`the client can be run: ${script ?? program}`),
      ...(isOld ? [doubtful(`a newer client is there: ${current.at(-1)}`, AGAIN)] : []),
    ]
  })
}

/** The client itself, with the interpreter before it if it has one. */
function programOf(argv: readonly string[]): readonly string[] {
  return argv.slice(0, argv.findIndex((word) => /^hookhelm-hook/.test(basename(word))) + 1)
}

function trouble(path: string, mustRun: boolean): Finding[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return [bad(`${path} is not there: every gate is closed`, AGAIN)]
  if (mustRun && !isExecutable(path)) return [bad(`${path} cannot be executed`, `Run \`chmod u+x ${path}\`.`)]
  const uid = process.getuid?.()
  if (uid !== undefined && found.uid !== uid && found.uid !== 0)
    return [
      bad(`${path} belongs to user ${found.uid}, who can change it`, 'Install it as yourself or as root.'),
    ]
  return (found.mode & 0o002) === 0
    ? []
    : [bad(`everybody may write to ${path}`, `Run \`chmod o-w ${path}\`.`)]
}

/** An agent lets pass what it has to end itself. */
function budgets(calls: readonly WrittenCall[]): Finding[] {
  const late = calls.filter((call) => {
    const within = Number(flagOf(call, '--within') ?? 55_000)
    return call.timeoutMs !== undefined && !(within < call.timeoutMs)
  })
  return late.length === 0
    ? [good('our time limit lies below that of the agent everywhere')]
    : [
        bad(
          `${names(late)}: our time limit is not below that of the agent, which lets pass what it ends`,
          AGAIN,
        ),
      ]
}

function closings({ hooks, calls }: Connected, { closing }: CommandHost): Finding[] {
  const open = calls.filter(({ isGate, failOpen }, index) => {
    const value = hooks[index]?.value ?? {}
    return isGate && !failOpen && Object.entries(closing).some(([key, wanted]) => value[key] !== wanted)
  })
  const [key] = Object.keys(closing)
  return open.length === 0
    ? []
    : [bad(`${names(open)}: ${key} is missing, so a crash lets the call pass`, AGAIN)]
}

/** Gates that the agent has and nobody listens to. */
function missing({ calls, hooks }: Connected, { events }: AgentAdapter): Finding[] {
  const connected = new Set(calls.map(({ event }) => event))
  const open = Object.entries(events)
    .filter(([event, row]) => isGateRow(row) && row.chatty !== true && !connected.has(event))
    .map(([event]) => event)
  const narrow = hooks.filter(({ matcher }) => matcher !== undefined && matcher !== '' && matcher !== '*')
  return [
    ...(open.length === 0 ? [] : [bad(`${open.join(', ')}: not connected, so nothing stops it`, AGAIN)]),
    ...narrow.map(({ event, matcher }) =>
      doubtful(
        `${event}: only what matches ${JSON.stringify(matcher)} passes the hooks`,
        'Remove the matcher.',
      ),
    ),
  ]
}

function twice({ calls }: Connected): Finding[] {
  const double = calls.filter(
    ({ event }, index) => calls.findIndex((other) => other.event === event) !== index,
  )
  return double.length === 0 ? [] : [bad(`${names(double)}: entered twice, so hooks run twice`, AGAIN)]
}

function names(calls: readonly WrittenCall[]): string {
  return calls.map(({ event }) => event).join(', ')
}
