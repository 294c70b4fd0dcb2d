import { recordFile } from '../evaluate/resolve-path.ts'
import { type Invocation, insideStep, type ShellFrame } from '../evaluate/shell-run.ts'
import { forkState } from '../evaluate/shell-state.ts'
import {
  describeField,
  fieldCertainty,
  fieldText,
  isFieldKnown,
  knownText,
  type WordField,
} from '../expand/shell-text.ts'
import { commandsInCode, isCode, isCommandName, isCommandStart, quotedCommands } from './command-text.ts'
import { sliceField } from './parse-options.ts'
import { type ProgramCall, stated } from './program-call.ts'
import { addAddress } from './record-hosts.ts'
import { callsPrograms, childState } from './run-code.ts'

/** Words behind which a command follows. */
const runWords = /^(?:--|exec|execute|run|shell|rsh|ssh|do|enter|foreach|spawn)$/

/** Options whose value is a command. */
const runOptions =
  /^(?:[cexX]|exec|execute|cmd|command|run|shell|sh-exec|script|wrap|call|hook|pager|editor|runner|launcher|wrapper|.*-(?:cmd|command|exec|hook|pager|editor|program|script|runner|wrapper))$/

/** Options whose value is text for people, or a pattern. */
const textOptions =
  /^(?:[mtbq]|message|msg|title|body|description|desc|comment|notes?|text|subject|summary|label|name|query|pattern|search|grep|prompt|content|reason|regexp?|data|json)$/

const MAX_ARGUMENTS = 1_000
const MAX_INPUT = 65_536

/**
 * What a program does as far as its record does not say. It may run a command that its arguments contain in plain sight, so
 * that command counts as one that runs; the files that its arguments name count as read, those of `--output` as written, and
 * the hosts of addresses as contacted.
 */
export function runFallback(call: ProgramCall, readsData: boolean): void {
  const kinds = (['reads', 'writes'] as const).filter((kind) => !stated(call, kind) && !stated(call, 'files'))
  const runs = stated(call, 'runs')?.value
  if (call.args.length > MAX_ARGUMENTS) {
    if (runs === 'none') return
    const detail = `${call.program} has more than ${MAX_ARGUMENTS} arguments, which may contain a command`
    call.frame.run.record.addOpaque('budget', detail, call.at)
    return
  }
  if (kinds.length > 0) recordNamedFiles(call, kinds)
  if (!stated(call, 'hosts')) for (const arg of call.args) addAddress(call, arg)
  if (runs === 'none') return
  runCommandWords(call, runs === 'announced')
  runCodeArguments(call)
  if (!readsData && !stated(call, 'special')) markInput(call)
}

function knownWord(field: WordField | undefined): string | undefined {
  return field && isFieldKnown(field) ? describeField(field) : undefined
}

function inside({ program, frame }: Invocation): ShellFrame {
  const { returns: _returns, loops: _loops, ...outside } = insideStep(frame, program)
  return { ...outside, skipsFunctions: true }
}

/** Runs the words from the first one that starts a command. */
function runCommandWords(invocation: Invocation, needsRunWord: boolean): void {
  const { args, state, frame } = invocation
  let afterRunWord = false
  for (let index = 0; index < args.length; index++) {
    const word = knownWord(args[index])
    if (word === undefined) continue
    const before = knownWord(args[index - 1]) ?? ''
    const isAnnounced = afterRunWord || (before.startsWith('-') && runOptions.test(before.replace(/^-+/, '')))
    const next = knownWord(args[index + 1])
    const starts = isAnnounced
      ? isCommandName(word)
      : needsRunWord
        ? isDeletion(word, args.slice(index + 1))
        : isCommandStart(word, next)
    if (starts) {
      // `composer exec rm -- -rf x`
      const rest = args.slice(index + (next === '--' ? 2 : 1))
      frame.run.runWords([args[index] ?? [], ...rest], forkState(state), inside(invocation))
      return
    }
    afterRunWord ||= runWords.test(word)
  }
}

/** `rm -rf` is no subcommand of another program, unless it is about addresses. */
function isDeletion(word: string, rest: readonly WordField[]): boolean {
  const [flags = '', ...paths] = rest.map(describeField)
  return (
    /^(?:\/bin\/)?rm$/.test(word) &&
    /^-(?:rf|fr|Rf|fR)$/.test(flags) &&
    !paths.some((path) => path.includes('://'))
  )
}

/** Runs arguments that are code: `pdsh -w host 'rm -rf x'`, `--command='rm -rf x'`, `alias.z='!rm -rf x'`. */
function runCodeArguments(invocation: Invocation): void {
  const { args, state, frame, at } = invocation
  const { record, runCode } = frame.run
  for (const [index, arg] of args.entries()) {
    const { option, value, isSetting } = optionAndValue(args[index - 1], arg)
    if (option !== undefined && textOptions.test(option)) continue
    const text = knownText(fieldText(value))
    const isRun = option !== undefined && runOptions.test(option)
    if (text === undefined) {
      if (isRun && option !== undefined && /exec|cmd|command/.test(option))
        record.addOpaque('code', `the command that ${invocation.program} gets by ${option} is not known`, at)
      continue
    }
    if (callsPrograms(text))
      record.addOpaque('inline-code', `${invocation.program} may run code of its arguments`, at)
    const escaped = /^\s*[!|]\s*(?=\S)/.exec(text)?.[0] ?? ''
    const code = text.slice(escaped.length)
    // `npm pkg set scripts.clean='rm -rf x'` only stores the text, and recipes of make run their variables.
    const isStored = isSetting && option === undefined && !/^g?make$/.test(invocation.program)
    if (isStored && escaped === '') continue
    const isWhole = /\s/.test(code.trim()) && isCode(code, isRun || escaped !== '')
    for (const each of isWhole ? [code] : [...quotedCommands(code), ...commandsInCode(code)])
      runCode([each], childState(state), inside(invocation))
  }
}

function markInput({ program, frame, at }: Invocation): void {
  const input = knownText(frame.stdin)
  const words = input !== undefined && input.length <= MAX_INPUT ? input.split(/\s+/) : []
  if (words.some((word, index) => isCommandStart(word.replace(/^!/, ''), words[index + 1])))
    frame.run.record.addOpaque('code', `whether ${program} runs its input is not known`, at)
}

/** The option that an argument belongs to, and its value: `--name=value`, `--name value`, or `key=value`. */
function optionAndValue(before: WordField | undefined, arg: WordField) {
  const previous = knownWord(before) ?? ''
  const option = /^--?[\w-]+$/.test(previous) ? previous.replace(/^-+/, '') : undefined
  const [start = '', hyphens, name] = /^(--?)?([\w.:-]+)=/.exec(describeField(arg)) ?? []
  const value = sliceField(arg, start.length)
  return hyphens === undefined
    ? { option, value, isSetting: start !== '' }
    : { option: name, value, isSetting: false }
}

const outputOptions =
  /^(?:o|out|output|outfile|out-file|output-file|dest|destination|log-file|save|save-to|write-to)$/
/** A program uses these files, and shows nothing of them. */
const usedOptions = /(?<!from-)env|key|cert|^ca|config|credential|identity|secret/i
const pathLike = /^(?:~?\/|\.{1,2}\/|\.[A-Za-z])|^[^:@\s]+\/[^/:\s]*\.[\w-]+$|^[\w-]+\.[a-z]{1,8}$/
const hostLike = /\.(?:com|org|net|io|dev|test|local|app|ai)$/

/** `foreman -e` is `--env`. */
function optionName(program: string, option: string): string {
  return option === 'e' && /^(?:foreman|honcho|overmind|env-cmd)$/.test(program) ? 'env' : option
}

/** The files that arguments name. */
function recordNamedFiles(
  { program, args, state, frame, at }: Invocation,
  kinds: readonly ('reads' | 'writes')[],
): void {
  const record = recordFile(state, frame)
  for (const [index, arg] of args.entries()) {
    const text = describeField(arg)
    if (text.startsWith('-') && !text.includes('=')) continue
    const { option = '', value } = optionAndValue(args[index - 1], arg)
    const path = describeField(value)
    // `--data @file`, `--from-file=key=file`
    const field = sliceField(value, /^(?:@|[\w.-]+=(?=[./~]))/.exec(path)?.[0].length ?? 0)
    if (
      !pathLike.test(describeField(field)) ||
      hostLike.test(path) ||
      usedOptions.test(optionName(program, option))
    )
      continue
    const kind = outputOptions.test(option) ? 'writes' : 'reads'
    if (kinds.includes(kind) && (kind === 'writes' || fieldCertainty(field) !== 'unknown'))
      record(kind, { field, by: program, at })
  }
}
