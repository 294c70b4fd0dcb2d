import { basename } from 'node:path'
import type { Call } from './call-plan.ts'
import type { CommandHost } from './host.ts'
import { firstWords, quoted } from './shell-line.ts'
import type { HookEntry } from './text/hook-lists.ts'

/** A command of ours as it was found in a configuration. */
export interface WrittenCall {
  readonly event: string
  /** The client with its arguments. */
  readonly argv: readonly string[]
  /** The whole line where a shell runs it. */
  readonly line: string | undefined
  readonly timeoutMs: number | undefined
  readonly isGate: boolean
  readonly failOpen: boolean
}

const COULD_NOT_RUN = 'hookhelm: the client could not run'

/** One hook as the agent's configuration wants it. */
export function entryOf(host: CommandHost, call: Call): HookEntry {
  const { event, argv, isGate, failOpen, timeoutMs } = call
  const [program = '', ...args] = argv
  const command =
    host.form.kind === 'exec' ? { command: program, args } : { [host.form.key]: shellLine(call) }
  const value = {
    ...host.always,
    ...command,
    [host.timeout.key]: timeoutMs / host.timeout.unitMs,
    ...(isGate && !failOpen ? host.closing : {}),
  }
  return { event, value }
}

/**
 * In a shell the line itself closes a gate whose client crashed or is gone: every agent lets pass a hook that merely
 * failed. Elsewhere nothing but the client's own refusal gets through, because some block on any code and text. The
 * agent may take whatever shell its user likes, so that all of them must read the line alike: words in single quotes.
 */
function shellLine({ argv, ...call }: Call): string {
  return ['/bin/sh', '-c', shellScript(call), SCRIPT_NAME, ...argv].map(quoted).join(' ')
}

/** What the script calls itself, and what we know it by. */
const SCRIPT_NAME = 'hookhelm'

/** Without a single quote in it. */
function shellScript({ isGate, failOpen, refusal }: Omit<Call, 'argv'>): string {
  if (!isGate || failOpen) return '"$@" || { [ $? = 2 ] && exit 2; exit 0; }'
  if (refusal === undefined) return `"$@" || { [ $? = 2 ] || echo "${COULD_NOT_RUN}" >&2; exit 2; }`
  return `"$@" || { printf %s "${JSON.stringify(refusing(refusal)).replaceAll('"', '\\"')}"; exit 0; }`
}

/** Where exit code 2 is not honoured, a refusal is told on stdout. */
function refusing(refusal: NonNullable<Call['refusal']>): object {
  const decision = { behavior: 'deny', message: COULD_NOT_RUN }
  if (refusal === 'permission')
    return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } }
  return refusal === 'decision' ? { decision: 'block', reason: COULD_NOT_RUN } : decision
}

/** Reads a hook back; nothing when it is not ours. */
export function callIn(host: CommandHost, { event, value }: HookEntry): WrittenCall | undefined {
  const { words: all, line } = wordsOf(value)
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

/** With the word after a flag replaced, as it was written. */
export function withFlag(call: WrittenCall, flag: string, value: string): WrittenCall {
  const at = call.argv.indexOf(flag)
  const old = call.argv[at + 1]
  if (at === -1 || old === undefined) return call
  const argv = call.argv.with(at + 1, value)
  const line = call.line?.replace(`${flag} ${quoted(old)}`, () => `${flag} ${quoted(value)}`)
  return { ...call, argv, line }
}

/** As if the client had been uninstalled. */
export function withoutClient(call: WrittenCall): WrittenCall {
  const [program = '', ...args] = call.argv
  const gone = `${program}.is-gone`
  return { ...call, argv: [gone, ...args], line: call.line?.replace(quoted(program), () => quoted(gone)) }
}

export function flagOf({ argv }: WrittenCall, flag: string): string | undefined {
  const at = argv.indexOf(flag)
  return at === -1 ? undefined : argv[at + 1]
}

/** Whichever of the agents' keys it stands under: an older version of us may have used another. */
function wordsOf(value: Readonly<Record<string, unknown>>) {
  const { command, bash, exec, args } = value
  const [line] = [command, bash, exec].filter((each) => typeof each === 'string')
  if (line === undefined) return { words: [], line: undefined }
  return Array.isArray(args)
    ? { words: [line, ...args.filter((each) => typeof each === 'string')], line: undefined }
    : { words: firstWords(line), line }
}
