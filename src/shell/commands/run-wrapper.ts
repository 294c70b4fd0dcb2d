import { runCodeVariable } from '../evaluate/code-variables.ts'
import { absolutePath, certainPath } from '../evaluate/resolve-path.ts'
import { insideStep, type Mount, type ShellFrame, viaStep } from '../evaluate/shell-run.ts'
import {
  assignVariable,
  eitherWay,
  exportVariable,
  forkState,
  type ShellOutcome,
  type ShellState,
  withFilesOf,
} from '../evaluate/shell-state.ts'
import { describeField, exactField, fieldText, knownText, type WordField } from '../expand/shell-text.ts'
import type { Wrapper } from '../programs/program.ts'
import { findRecord } from '../programs/programs.ts'
import {
  hasOption,
  optionValues,
  type ParsedOption,
  type ParsedOptions,
  parseOptions,
  sliceField,
} from './parse-options.ts'
import { type Level, type ProgramCall, stated } from './program-call.ts'
import { folderOf } from './record-files.ts'
import { childState, joinWords } from './run-code.ts'

/** A wrapper with its options and the words of its command. */
interface WrapperCall {
  readonly row: Wrapper
  /** Its options whose value is shell code. */
  readonly code: readonly string[]
  readonly options: readonly ParsedOption[]
  readonly words: readonly WordField[]
}

/** Runs the command that a wrapper runs. Undefined if the program is no wrapper. */
export function runWrapper(call: ProgramCall): ShellOutcome | undefined {
  const found = stated(call, 'runs')
  if (typeof found?.value !== 'object') {
    markHiddenSubcommand(call)
    return undefined
  }
  const { value: row, level } = found
  const { name } = level
  const { options, operands } = level.parsed
  const { state } = call
  const { runCode } = call.frame.run
  const unknownOutput = eitherWay(state, [{ source: `$(${name})` }])
  if (hasOption(options, ...(row.inert ?? []))) return unknownOutput
  markOptions(call, row, level)
  const frame = wrapperFrame(call, row, level)
  const inside = enterWrapper(call, { row, options, operands }, frame)
  const { code = [] } = level.record
  for (const text of optionValues(options, ...code))
    runCode(fieldText(text), childState(inside.state), viaStep(frame, 'sh -c'))
  const split = name === 'env' ? optionValues(options, 'S') : []
  for (const text of split) runCode(joinWords([text, ...inside.words]), inside.state, frame)
  if (row.mixed) runMixed({ row, code, options, words: level.args }, inside.state, { ...frame, at: call.at })
  if (row.mixed || split.length > 0) return unknownOutput
  const words = commandWords(row, options, inside.words)
  const outcome = runInner({ row, code, options, words }, inside.state, frame)
  // Without a command, some print what a shell is to run: `eval $(ssh-agent)`.
  if (!outcome) return unknownOutput
  // Only a wrapper that is part of the shell changes the shell.
  return builtinWrappers.has(name) ? outcome : eitherWay(withFilesOf(state, outcome), outcome.stdout)
}

const builtinWrappers = new Set(['command', 'builtin', 'exec', 'noglob', 'nocorrect', 'repeat'])

/** An option that the record lacks may take a value, and then the subcommand is a later word. */
function markHiddenSubcommand({ program, levels: [{ record, spec, args }], frame, at }: ProgramCall): void {
  if (record.subcommands === undefined || !describeField(args[0] ?? []).startsWith('-')) return
  const { options, operands } = parseOptions(args, { ...spec, stops: true })
  const unknown = options.find(({ name, value }) => !spec.names.has(name) && value === undefined)
  const word = operands[1] && knownText(fieldText(operands[1]))
  if (unknown === undefined || word === undefined) return
  if (typeof findRecord(record.subcommands, word)?.record.runs === 'object')
    frame.run.record.addOpaque(
      'option',
      `${program} has an option ${unknown.name} that the analyser does not know`,
      at,
    )
}

/** Marks options that hide which word is the program, or that load code. */
function markOptions(
  { frame, at }: ProgramCall,
  { loads = [] }: Wrapper,
  { name, spec, parsed }: Level,
): void {
  const { record } = frame.run
  // Only an option without a value may take the next word, which would be the program.
  for (const option of parsed.options)
    if (option.value === undefined && !spec.names.has(option.name) && !/^\d+$/.test(option.name))
      record.addOpaque('option', `${name} has an option ${option.name} that the analyser does not know`, at)
  if (hasOption(parsed.options, ...loads))
    record.addOpaque('code', `${name} loads code that is not known`, at)
}

/** Runs the input of a shell that it starts, and the words after `--`. */
function runMixed({ row, options, words }: WrapperCall, state: ShellState, frame: ShellFrame): void {
  const { runCode } = frame.run
  if (row.fallback !== undefined && frame.stdin !== undefined && options.every(({ value }) => !value))
    runCode(frame.stdin, childState(state), frame)
  const dashes = words.findIndex((arg) => describeField(arg) === '--')
  if (dashes !== -1) runCode(joinWords(words.slice(dashes + 1)), childState(state), frame)
}

/** The words of the command, with the program that the record or an option names. */
function commandWords(
  { program, other, environment }: Wrapper,
  options: readonly ParsedOption[],
  words: readonly WordField[],
): readonly WordField[] {
  if (other !== undefined) return [exactField(other), ...words]
  const [named] = program === undefined ? [] : optionValues(options, program)
  if (named) return [named, ...words]
  if (!environment) return words
  const [first = [], ...args] = words
  return [sliceField(first, /^[\w.+-]+:/.exec(describeField(first))?.[0].length ?? 0), ...args]
}

function wrapperFrame(
  { frame, state }: ProgramCall,
  { remote }: Wrapper,
  { name, parsed }: Level,
): ShellFrame {
  const host = remote ? parsed.operands[0] : undefined
  if (!host) return { ...insideStep(frame, name), skipsFunctions: true }
  const place = describeField(host)
  return {
    ...insideStep(frame, `${name} ${place}`),
    skipsFunctions: true,
    remote: place,
    mounts: mountsOf(parsed.options, state),
  }
}

/** `-v folder:/folder`, `--mount type=bind,source=folder,target=/folder`; a mount inside of another comes first. */
function mountsOf(options: readonly ParsedOption[], { cwd }: ShellState): readonly Mount[] {
  const mounts = optionValues(options, 'v', 'mount').flatMap((field) => {
    const text = knownText(fieldText(field)) ?? ''
    const [, source, target] =
      /^([./~][^:]*):(\/[^:]*)/.exec(text) ??
      (/^(?=.*\b(?:source|src)=([^,]+))(?=.*\b(?:target|dst|destination)=([^,]+))/.exec(text) || [])
    const outside = source === undefined ? undefined : absolutePath(source, cwd)
    if (outside === undefined || target === undefined) return []
    return [{ outside: outside.replace(/(?<=.)\/$/, ''), inside: target.replace(/(?<=.)\/$/, '') }]
  })
  return mounts.toSorted((a, b) => b.inside.length - a.inside.length)
}

/** Skips the operands and assignments before the command. */
function enterWrapper(
  call: ProgramCall,
  { row, options, operands }: ParsedOptions & { readonly row: Wrapper },
  frame: ShellFrame,
) {
  const state = forkState(call.state)
  const [workFolder] = frame.remote === undefined ? [] : optionValues(options, 'w')
  if (frame.remote === undefined) state.cwd = folderOf(call)
  else state.cwd = workFolder && certainPath(workFolder, '/')
  const skipped = row.after ?? (row.remote ? 1 : 0)
  let words = operands.slice(skipped)
  // `aws-vault exec profile -- command`
  if (words[0] && skipped > 0 && describeField(words[0]) === '--') words = words.slice(1)
  for (; row.assignments && words[0]; words = words.slice(1)) {
    const text = describeField(words[0])
    const equals = /^[A-Za-z_][\w%()]*=/.exec(text)?.[0]
    if (equals === undefined) break
    const name = equals.slice(0, -1)
    assignVariable(state, name, fieldText(sliceField(words[0], equals.length)))
    exportVariable(state, name)
    runCodeVariable(name, state, frame)
  }
  return { state, words }
}

function runInner(
  { row, code, options, words }: WrapperCall,
  state: ShellState,
  frame: ShellFrame,
): ShellOutcome | undefined {
  const given = words.length === 0 && row.fallback !== undefined ? [exactField(row.fallback)] : words
  const joins = row.joins ?? (hasOption(options, ...(row.joinOptions ?? [])) ? 'joined' : undefined)
  // Without a command the shell that it starts reads its input.
  if (given.length === 0 && joins === 'joined' && frame.stdin !== undefined)
    return frame.run.runCode(frame.stdin, childState(state), { ...frame, at: frame.at ?? 0 })
  if (given.length === 0) return undefined
  // `flock file -c code`: the option follows the operand.
  if (code.includes('-c') && given[1] && /^(-c|--command)$/.test(describeField(given[0] ?? [])))
    return frame.run.runCode(fieldText(given[1]), childState(state), frame)
  const child = childState(state)
  if (joins === 'joined') {
    // Some quote the words before they join them: `heroku run bash -c 'rm -rf x'`.
    if (given.some((word, index) => index > 0 && /\s/.test(describeField(word))))
      frame.run.runWords(given, state, frame)
    return frame.run.runCode(joinWords(given), child, frame)
  }
  if (joins !== 'each') return frame.run.runWords(given, state, frame)
  for (const word of given) frame.run.runCode(fieldText(word), child, frame)
  return undefined
}
