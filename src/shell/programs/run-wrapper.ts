import { absolutePath, certainPath, recordFile } from '../evaluate/resolve-path.ts'
import { type Invocation, type Mount, type ShellFrame, viaStep } from '../evaluate/shell-run.ts'
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
  exactField,
  fieldText,
  knownText,
  type ShellText,
  type WordField,
} from '../expand/shell-text.ts'
import { runCodeVariable } from './code-variables.ts'
import {
  hasOption,
  optionValues,
  type ParsedOption,
  type ParsedOptions,
  parseOptions,
  sliceField,
} from './parse-options.ts'
import { type OptionSpec, optionsOf, readSpec } from './program-options.ts'
import { type WrapperRow, wrappers } from './wrapper-table.ts'

const specs = new Map<string, OptionSpec>()

function specOf(name: string, { options }: WrapperRow): OptionSpec {
  const spec = specs.get(name) ?? readSpec(options)
  specs.set(name, spec)
  return spec
}

interface FoundWrapper {
  /** The name of its row. */
  readonly name: string
  /** The arguments after the words that name it. */
  readonly args: readonly WordField[]
}

/** The programs and subcommands that have subcommands in the table: `docker`, `docker compose`. */
const parents = new Set(
  Object.keys(wrappers).flatMap((name) => {
    const words = name.split(' ')
    return words.slice(1).map((_, index) => words.slice(0, index + 1).join(' '))
  }),
)

const sameAs: Readonly<Record<string, string>> = {
  podman: 'docker',
  nerdctl: 'docker',
  oc: 'kubectl',
  flyctl: 'fly',
  incus: 'lxc',
}

/** The row of a program, or of its subcommand; options of the program may come before the subcommand. */
export function findWrapper(program: string, given: readonly WordField[]): FoundWrapper | undefined {
  let name = baseOf(program)
  let args = given
  let found: FoundWrapper | undefined
  for (;;) {
    if (Object.hasOwn(wrappers, name)) found = { name, args }
    if (!parents.has(name)) return found
    const { operands } = parseOptions(args, { ...optionsOf(name), stops: true })
    const subcommand = knownText(fieldText(operands[0] ?? []))
    if (subcommand === undefined || subcommand === '') return found
    name = `${name} ${subcommand}`
    args = operands.slice(1)
  }
}

/** The operands of a wrapper, among them the words of its command; undefined if the program is no wrapper. */
export function wrapperOperands(
  program: string,
  args: readonly WordField[],
): readonly WordField[] | undefined {
  const found = findWrapper(program, args)
  const row = found && wrappers[found.name]
  return found && row && parseOptions(found.args, specOf(found.name, row)).operands
}

/** An option that the table lacks may take a value, and then the subcommand is a later word. */
function findHiddenSubcommand({ program, args }: Invocation): string | undefined {
  const name = baseOf(program)
  if (!parents.has(name)) return undefined
  const spec = optionsOf(name)
  const { options, operands } = parseOptions(args, { ...spec, stops: true })
  const unknown = options.find((option) => !spec.names.has(option.name) && option.value === undefined)
  const [next] = operands.slice(1)
  const word = next && knownText(fieldText(next))
  return unknown !== undefined && Object.hasOwn(wrappers, `${name} ${word}`) ? unknown.name : undefined
}

/** The program whose rows also hold for this one. */
function baseOf(program: string): string {
  if (/^ld-(linux|musl)[\w.-]*\.so/.test(program)) return 'ld.so'
  return Object.hasOwn(sameAs, program) ? (sameAs[program] ?? program) : program
}

/** Runs the command that a wrapper runs. Undefined if the program is no wrapper. */
export function runWrapper(invocation: Invocation): ShellOutcome | undefined {
  const found = findWrapper(invocation.program, invocation.args)
  const row = found && wrappers[found.name]
  const { state, at } = invocation
  const { record, runCode } = invocation.frame.run
  if (!found || !row) {
    const option = findHiddenSubcommand(invocation)
    if (option !== undefined)
      record.addOpaque(
        'option',
        `${invocation.program} has an option ${option} that the analyser does not know`,
        at,
      )
    return undefined
  }
  const { options, operands } = parseOptions(found.args, specOf(found.name, row))
  const unknownOutput = eitherWay(state, [{ source: `$(${found.name})` }])
  if (hasOption(options, ...(row.inert ?? []))) return unknownOutput
  markOptions({ row, name: found.name, options }, invocation)
  const given = wrapperFrame({ row, name: found.name, operands }, invocation.frame)
  const frame = given.remote === undefined ? given : { ...given, mounts: mountsOf(options, state) }
  for (const field of writtenFiles(row, { options, operands })) {
    // `strace -o '|command'`
    if (/^[|!]/.test(describeField(field))) runCode(fieldText(sliceField(field, 1)), childState(state), frame)
    else recordFile(state, invocation.frame)('writes', { field, by: found.name, at })
  }
  const inside = enterWrapper({ row, options, operands }, state, frame)
  for (const code of optionValues(options, ...(row.code ?? [])))
    runCode(fieldText(code), childState(inside.state), { ...frame, via: [...frame.via, 'sh -c'] })
  const split = found.name === 'env' ? optionValues(options, 'S') : []
  for (const text of split) runCode(joinWords([text, ...inside.words]), inside.state, frame)
  if (row.mixed) runMixed({ row, options, operands: found.args }, inside.state, { ...frame, at })
  if (row.mixed || split.length > 0) return unknownOutput
  const named = withProgram(row, options, inside.words)
  const words = row.environment ? withoutEnvironment(named) : named
  const outcome = runInner({ row, options, words }, inside.state, frame)
  // Without a command, some print what a shell is to run: `eval $(ssh-agent)`.
  if (!outcome) return unknownOutput
  // Only a wrapper that is part of the shell changes the shell.
  return builtinWrappers.has(found.name) ? outcome : eitherWay(withFilesOf(state, outcome), outcome.stdout)
}

function withoutEnvironment([program = [], ...args]: readonly WordField[]): readonly WordField[] {
  return [sliceField(program, /^[\w.+-]+:/.exec(describeField(program))?.[0].length ?? 0), ...args]
}

/** Marks options that hide which word is the program, or that load code. */
function markOptions(
  { row, name, options }: { row: WrapperRow; name: string; options: readonly ParsedOption[] },
  { frame, at }: Invocation,
): void {
  const { record } = frame.run
  const { names } = specOf(name, row)
  // Only an option without a value may take the next word, which would be the program.
  for (const option of options)
    if (option.value === undefined && !names.has(option.name) && !/^\d+$/.test(option.name))
      record.addOpaque('option', `${name} has an option ${option.name} that the analyser does not know`, at)
  if (hasOption(options, ...(row.loads ?? [])))
    record.addOpaque('code', `${name} loads code that is not known`, at)
}

/** Runs the input of a shell that it starts, and the words after `--`. */
function runMixed({ row, options, operands }: WrapperCall, state: ShellState, frame: ShellFrame): void {
  const { runCode } = frame.run
  if (row.fallback !== undefined && frame.stdin !== undefined && options.every(({ value }) => !value))
    runCode(frame.stdin, childState(state), frame)
  const dashes = operands.findIndex((arg) => describeField(arg) === '--')
  if (dashes !== -1) runCode(joinWords(operands.slice(dashes + 1)), childState(state), frame)
}

function writtenFiles({ writes }: WrapperRow, { options, operands }: ParsedOptions): readonly WordField[] {
  if (writes === undefined) return []
  return writes === 'first' ? operands.slice(0, 1) : optionValues(options, writes)
}

/** The words of the command, with the program that the row or an option names. */
function withProgram(
  { program, runs }: WrapperRow,
  options: readonly ParsedOption[],
  words: readonly WordField[],
): readonly WordField[] {
  if (runs !== undefined) return [exactField(runs), ...words]
  const [named] = program === undefined ? [] : optionValues(options, program)
  return named ? [named, ...words] : words
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
function enterWrapper({ row, options, operands }: WrapperCall, state: ShellState, frame: ShellFrame) {
  const inside = forkState(state)
  const [workFolder] = frame.remote === undefined ? [] : optionValues(options, 'w')
  if (frame.remote !== undefined) inside.cwd = workFolder && certainPath(workFolder, '/')
  const [folder] = row.folder === undefined ? [] : optionValues(options, row.folder)
  if (folder) inside.cwd = absolutePath(knownText(fieldText(folder)) ?? '', state.cwd)
  let words = operands.slice(row.operands ?? 0)
  // `aws-vault exec profile -- command`
  if (words[0] && row.operands && describeField(words[0]) === '--') words = words.slice(1)
  for (; row.assignments && words[0]; words = words.slice(1)) {
    const text = describeField(words[0])
    const equals = /^[A-Za-z_][\w%()]*=/.exec(text)?.[0]
    if (equals === undefined) break
    const name = equals.slice(0, -1)
    assignVariable(inside, name, fieldText(sliceField(words[0], equals.length)))
    exportVariable(inside, name)
    runCodeVariable(name, inside, frame)
  }
  return { state: inside, words }
}

function runInner(
  { row, options, words }: { row: WrapperRow; options: readonly ParsedOption[]; words: readonly WordField[] },
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
  if (row.code?.includes('c') && given[1] && /^(-c|--command)$/.test(describeField(given[0] ?? [])))
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

/** The words as one line of code. */
export function joinWords(words: readonly WordField[]): ShellText {
  return words.flatMap((word, index) => (index === 0 ? fieldText(word) : [' ', ...fieldText(word)]))
}

/** The state of a shell that another program starts: it inherits only what is exported. */
export function childState(state: ShellState): ShellState {
  const variables = new Map([...state.variables].filter(([name]) => state.exported.has(name)))
  const functions = new Map([...state.functions].filter(([name]) => state.exported.has(name)))
  // Aliases of git and scripts of npm are in files, and not in the shell.
  const aliases =
    state.aliases.size === 0
      ? state.aliases
      : new Map([...state.aliases].filter(([name]) => name.includes(' ')))
  return { ...state, variables, functions, aliases, positional: [], locals: new Map() }
}

/** Runs code that a program gets as a text. */
export function runCodeOf({ program, frame, state }: Invocation, code: ShellText): void {
  const { stdin: _used, ...rest } = viaStep(frame, program)
  frame.run.runCode(code, childState(state), { ...rest, depth: frame.depth + 1 })
}
