import { basename } from 'node:path'
import type { AgentAdapter, NativeEvent } from '../agents/agent-adapter.ts'
import type { CommandHost, RefusalFormat } from '../agents/agent-host.ts'
import { catalogue } from '../engine/events/catalogue.ts'
import type { HookEntry } from './edit-hooks.ts'

export interface ConnectSettings {
  /** The client program, with the arguments that come before ours. */
  readonly client: { readonly command: readonly string[] }
  readonly socket: string
  readonly spool: string
  readonly failOpen: boolean
  /** How long a gate may take to answer. */
  readonly timeoutMs: number
  /** How long a call waits for a person whom a hook asks. The agent waits that long for a gate, if it is longer. */
  readonly waitMs: number
  readonly allEvents: boolean
}

/** The command that an agent runs for one event. */
export interface HookCommand {
  readonly event: string
  readonly isGate: boolean
  /** The client with all its arguments. */
  readonly argv: readonly string[]
  readonly timeoutMs: number
  readonly refusal: RefusalFormat | undefined
  readonly failOpen: boolean
}

/** A command of ours, as it is in a configuration. */
export interface WrittenHookCommand {
  readonly event: string
  /** The client with its arguments. */
  readonly argv: readonly string[]
  /** The command line, if the agent runs it in a shell. */
  readonly line: string | undefined
  readonly timeoutMs: number | undefined
  readonly isGate: boolean
  readonly failOpen: boolean
}

/** The client spools an observation that takes longer, and the gateway reads it later. */
const OBSERVE_TIMEOUT_MS = 10_000
const OBSERVE_WITHIN_MS = 5_000
const COULD_NOT_RUN = 'hookhelm: the client could not run'
/** A module that NODE_OPTIONS loads could print something before the client's reply, and the agent would not read it. */
const CLEAN_ENVIRONMENT = 'unset NODE_OPTIONS NODE_PATH NODE_DEBUG NODE_V8_COVERAGE'
/** `$0` of the shell script. It marks the line as ours. */
const SCRIPT_NAME = 'hookhelm'

/** The commands for every event that `connect` registers. */
export function planHookCommands(
  { name, events }: AgentAdapter,
  host: CommandHost,
  settings: ConnectSettings,
): HookCommand[] {
  return Object.entries(events)
    .filter(([event, row]) => !host.never.includes(event) && isConnected(row, settings.allEvents))
    .map(([event, row]) => {
      const isGate = isGateEvent(row)
      const timeoutMs = Math.min(
        isGate ? Math.max(settings.timeoutMs, settings.waitMs) : OBSERVE_TIMEOUT_MS,
        row.maxTimeoutMs ?? Infinity,
      )
      const wait = clientBudget(timeoutMs)
      const within = Math.min(isGate ? clientBudget(settings.timeoutMs) : OBSERVE_WITHIN_MS, wait)
      const refusal = isGate ? host.refusals[event] : undefined
      const { client, socket, spool, failOpen } = settings
      const argv = [
        ...client.command,
        ...[name, event, '--socket', socket, '--spool', spool, '--within', String(within)],
        ...(isGate ? (wait > within ? ['--wait', String(wait)] : []) : ['--observe']),
        ...(refusal === undefined ? [] : ['--refuse', refusal]),
        ...(isGate && failOpen ? ['--fail-open'] : []),
      ]
      return { event, isGate, argv, timeoutMs, refusal, failOpen: isGate && failOpen }
    })
}

function isConnected({ event, chatty }: NativeEvent, all: boolean): boolean {
  return all || (event !== undefined && chatty !== true)
}

/** Whether a missing answer must block: our event is a gate that fails closed, and the agent honours a block. */
export function isGateEvent({ event, honours = [] }: NativeEvent): boolean {
  if (event === undefined || !honours.includes('block')) return false
  const { mode, onFailure } = catalogue[event]
  return mode === 'gate' && onFailure === 'block'
}

/** The client's time limit. It is below the agent's, because an agent lets a call pass when it ends the hook itself. */
export function clientBudget(timeoutMs: number): number {
  const margin = Math.min(Math.max(timeoutMs / 10, 1_000), 5_000)
  return Math.max(Math.floor(timeoutMs - margin), 100)
}

/** The entry for the agent's configuration. */
export function hookEntry(host: CommandHost, command: HookCommand): HookEntry {
  const { event, isGate, failOpen, timeoutMs } = command
  const value = {
    ...host.always,
    [host.commandKey]: shellLine(command),
    [host.timeout.key]: timeoutMs / host.timeout.unitMs,
    ...(isGate && !failOpen ? host.closing : {}),
  }
  return { event, value }
}

/**
 * Every agent lets a call pass when a hook merely fails, so the line itself blocks if the client crashed or is gone. For
 * other events it forwards only the client's own refusal, because some agents block on any exit code. The user's shell
 * may be any, so the line consists of words in single quotes.
 */
function shellLine({ argv, ...command }: HookCommand): string {
  return ['/bin/sh', '-c', shellScript(command), SCRIPT_NAME, ...argv].map(quoteWord).join(' ')
}

/** Must not contain a single quote. */
function shellScript({ isGate, failOpen, refusal }: Omit<HookCommand, 'argv'>): string {
  const start = `${CLEAN_ENVIRONMENT}; "$@"`
  if (!isGate || failOpen) return `${start} || { [ $? = 2 ] && exit 2; exit 0; }`
  if (refusal === undefined) return `${start} || { [ $? = 2 ] || echo "${COULD_NOT_RUN}" >&2; exit 2; }`
  const output = JSON.stringify(refusals[refusal](COULD_NOT_RUN)).replaceAll('"', '\\"')
  // Exit code 2 remains if nothing can be printed.
  return `${start} || { printf %s "${output}" && exit 0; exit 2; }`
}

const denied = (message: string) => ({ behavior: 'deny', message })
const permissionOutput = (message: string) => ({
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: denied(message) },
})

/** Refusals on stdout. Both clients print the same. */
const refusals: Readonly<Record<RefusalFormat, (message: string) => object>> = {
  permission: permissionOutput,
  'permission-camel': denied,
  'permission-any': (message) => ({ ...denied(message), ...permissionOutput(message) }),
  decision: (reason) => ({ decision: 'block', reason }),
  prompt: (message) => ({ decision: 'block', reason: message, continue: false, user_message: message }),
  tool: (message) => ({
    permission: 'deny',
    user_message: message,
    permissionDecision: 'deny',
    permissionDecisionReason: message,
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: message,
    },
  }),
}

/** Reads a command of ours from a configuration. Returns undefined for a hook of others. */
export function parseHookCommand(
  host: CommandHost,
  { event, value }: HookEntry,
): WrittenHookCommand | undefined {
  const { words: all, line } = commandWords(value)
  const words = all[1] === '-c' && all[3] === SCRIPT_NAME ? all.slice(4) : all
  const client = words.findIndex((word) => /^hookhelm-hook(?:\.[cm]?js)?$/.test(basename(word)))
  if (client !== 0 && client !== 1) return undefined
  const { key, unitMs } = host.timeout
  const timeout = value[key]
  return {
    event,
    argv: words,
    line,
    timeoutMs: typeof timeout === 'number' ? timeout * unitMs : undefined,
    isGate: !words.includes('--observe'),
    failOpen: words.includes('--fail-open'),
  }
}

/** The words of a command under any agent's key. Earlier versions of Hookhelm used other keys. */
function commandWords(value: Readonly<Record<string, unknown>>) {
  const { command, bash, exec, args } = value
  const [line] = [command, bash, exec].filter((each) => typeof each === 'string')
  if (line === undefined) return { words: [], line: undefined }
  return Array.isArray(args)
    ? { words: [line, ...args.filter((each) => typeof each === 'string')], line: undefined }
    : { words: splitShellLine(line), line }
}

export function flagValue({ argv }: WrittenHookCommand, flag: string): string | undefined {
  const at = argv.indexOf(flag)
  return at === -1 ? undefined : argv[at + 1]
}

/** The same command with another value of a flag. */
export function withFlagValue(command: WrittenHookCommand, flag: string, value: string): WrittenHookCommand {
  const old = flagValue(command, flag)
  if (old === undefined) return command
  const argv = command.argv.with(command.argv.indexOf(flag) + 1, value)
  const line = command.line?.replace(`${flag} ${quoteWord(old)}`, () => `${flag} ${quoteWord(value)}`)
  return { ...command, argv, line }
}

/** The same command with a client that does not exist, as after an uninstall. */
export function withMissingClient(command: WrittenHookCommand): WrittenHookCommand {
  const [program = '', ...args] = command.argv
  const missing = `${program}.is-gone`
  const line = command.line?.replace(quoteWord(program), () => quoteWord(missing))
  return { ...command, argv: [missing, ...args], line }
}

/** Quotes a word so that every shell takes it literally. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The words of the first command of a shell line. Stops at the first operator or expansion. */
export function splitShellLine(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    if (character === "'" || character === '"') {
      const end = closingQuote(line, at)
      if (end === -1) return words
      const inner = line.slice(at + 1, end)
      word = (word ?? '') + (character === "'" ? inner : inner.replace(/\\(["\\$`])/g, '$1'))
      at = end
    } else if (character === '\\') {
      at++
      word = (word ?? '') + line.charAt(at)
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (/[|&;<>(){}$`]/.test(character)) break
    else word = (word ?? '') + character
  }
  return word === undefined ? words : [...words, word]
}

function closingQuote(line: string, open: number): number {
  const quote = line.charAt(open)
  for (let at = open + 1; at < line.length; at++) {
    if (line[at] === quote) return at
    if (quote === '"' && line[at] === '\\') at++
  }
  return -1
}
