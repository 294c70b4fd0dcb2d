import { absolutePath } from '../evaluate/resolve-path.ts'
import { type Invocation, type ShellFrame, viaStep } from '../evaluate/shell-run.ts'
import {
  assignVariable,
  eitherWay,
  exportVariable,
  forkState,
  type ShellOutcome,
  type ShellState,
  withFilesOf,
} from '../evaluate/shell-state.ts'
import {
  describeField,
  EMPTY_TEXT,
  exactField,
  fieldText,
  knownText,
  type ShellText,
  type WordField,
} from '../expand/shell-text.ts'
import { hasOption, optionValues, type ParsedOption, parseOptions, sliceField } from './parse-options.ts'
import { type OptionSpec, readSpec } from './program-options.ts'
import { type WrapperRow, wrappers } from './wrapper-table.ts'

const specs = new Map<string, OptionSpec>()

function specOf(name: string, { options }: WrapperRow): OptionSpec {
  const spec = specs.get(name) ?? readSpec(options)
  specs.set(name, spec)
  return spec
}

/** The row of a program, or of its subcommand, with the number of words that name it. */
export function findWrapper(
  program: string,
  args: readonly WordField[],
): { readonly name: string; readonly words: number } | undefined {
  const texts = args.slice(0, 2).map((arg) => knownText(fieldText(arg)))
  const base =
    program === 'podman' || program === 'nerdctl' ? 'docker' : program === 'oc' ? 'kubectl' : program
  const names = [`${base} ${texts[0]} ${texts[1]}`, `${base} ${texts[0]}`, base]
  const found = names.findIndex((name) => Object.hasOwn(wrappers, name))
  return found === -1 ? undefined : { name: names[found] ?? base, words: 2 - found }
}

/** Runs the command that a wrapper runs. Undefined if the program is no wrapper. */
export function runWrapper(invocation: Invocation): ShellOutcome | undefined {
  const found = findWrapper(invocation.program, invocation.args)
  const row = found && wrappers[found.name]
  if (!found || !row) return undefined
  const { state, at } = invocation
  const { record, runCode } = invocation.frame.run
  const spec = specOf(found.name, row)
  const { options, operands } = parseOptions(invocation.args.slice(found.words), spec)
  if (hasOption(options, ...(row.inert ?? [])))
    return { ok: [state], fail: [state], stdout: [{ source: `$(${found.name})` }] }
  for (const { name } of options)
    if (!spec.names.has(name) && !/^\d+$/.test(name))
      record.addOpaque('option', `${found.name} has an option ${name} that the analyser does not know`, at)
  const frame = wrapperFrame({ row, name: found.name, operands }, invocation.frame)
  const inside = enterWrapper({ row, options, operands }, state, frame)
  for (const code of optionValues(options, ...(row.code ?? [])))
    runCode(fieldText(code), childState(inside.state), { ...frame, via: [...frame.via, 'sh -c'] })
  for (const text of optionValues(options, 'S').filter(() => found.name === 'env'))
    frame.run.runCode(joinWords([text, ...inside.words]), inside.state, frame)
  if (row.mixed || (found.name === 'env' && hasOption(options, 'S')))
    return { ok: [state], fail: [state], stdout: [{ source: `$(${found.name})` }] }
  const outcome = runInner({ row, options, words: inside.words }, inside.state, frame)
  if (!outcome) return { ok: [state], fail: [state], stdout: EMPTY_TEXT }
  // Only a wrapper that is part of the shell changes the shell.
  return builtinWrappers.has(found.name) ? outcome : eitherWay(withFilesOf(state, outcome), outcome.stdout)
}

const builtinWrappers = new Set(['command', 'builtin', 'exec', 'noglob', 'nocorrect', 'repeat'])

interface WrapperCall {
  readonly row: WrapperRow
  readonly options: readonly ParsedOption[]
  readonly operands: readonly WordField[]
}

function wrapperFrame(
  { row, name, operands }: { row: WrapperRow; name: string; operands: readonly WordField[] },
  frame: ShellFrame,
): ShellFrame {
  const inside: ShellFrame = { ...viaStep(frame, name), depth: frame.depth + 1, skipsFunctions: true }
  const host = row.remote === undefined ? undefined : operands[row.remote]
  return host
    ? {
        ...viaStep(frame, `${name} ${describeField(host)}`),
        depth: frame.depth + 1,
        skipsFunctions: true,
        remote: describeField(host),
      }
    : inside
}

/** Skips the operands and assignments before the command. */
function enterWrapper({ row, options, operands }: WrapperCall, state: ShellState, frame: ShellFrame) {
  const inside = forkState(state)
  if (frame.remote !== undefined) inside.cwd = undefined
  const [folder] = row.folder === undefined ? [] : optionValues(options, row.folder)
  if (folder) inside.cwd = absolutePath(knownText(fieldText(folder)) ?? '', state.cwd)
  let words = operands.slice(row.operands ?? 0)
  for (; row.assignments && words[0]; words = words.slice(1)) {
    const text = describeField(words[0])
    const equals = /^[A-Za-z_]\w*=/.exec(text)?.[0]
    if (equals === undefined) break
    const name = equals.slice(0, -1)
    assignVariable(inside, name, fieldText(sliceField(words[0], equals.length)))
    exportVariable(inside, name)
  }
  return { state: inside, words }
}

function runInner(
  { row, options, words }: { row: WrapperRow; options: readonly ParsedOption[]; words: readonly WordField[] },
  state: ShellState,
  frame: ShellFrame,
): ShellOutcome | undefined {
  const given = words.length === 0 && row.fallback !== undefined ? [exactField(row.fallback)] : words
  if (given.length === 0) return undefined
  // `flock file -c code`: the option follows the operand.
  if (row.code?.includes('c') && given[1] && /^(-c|--command)$/.test(describeField(given[0] ?? [])))
    return frame.run.runCode(fieldText(given[1]), childState(state), frame)
  const joins = row.joins ?? (hasOption(options, ...(row.joinOptions ?? [])) ? 'joined' : undefined)
  const child = childState(state)
  if (joins === 'joined') return frame.run.runCode(joinWords(given), child, frame)
  if (joins !== 'each') return frame.run.runWords(given, state, frame)
  for (const word of given) frame.run.runCode(fieldText(word), child, frame)
  return undefined
}

/** The words as one line of code. */
export function joinWords(words: readonly WordField[]): ShellText {
  return words.flatMap((word, index) => (index === 0 ? fieldText(word) : [' ', ...fieldText(word)]))
}

/** The state of a shell that another program starts: it inherits only what is exported. */
export function childState(state: ShellState): ShellState {
  const variables = new Map([...state.variables].filter(([name]) => state.exported.has(name)))
  const functions = new Map([...state.functions].filter(([name]) => state.exported.has(name)))
  return { ...state, variables, functions, aliases: new Map(), positional: [], locals: new Map() }
}
