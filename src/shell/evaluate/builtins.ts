import { runScriptFile } from '../commands/interpreters.ts'
import { sliceField } from '../commands/parse-options.ts'
import { joinWords } from '../commands/run-code.ts'
import { evaluateArithmetic } from '../expand/evaluate-arithmetic.ts'
import { arithmeticScope } from '../expand/expand-word.ts'
import {
  describeField,
  EMPTY_TEXT,
  exactField,
  fieldText,
  firstMany,
  isFieldKnown,
  knownText,
  positionalTexts,
  type ShellText,
  unknownText,
  type WordField,
} from '../expand/shell-text.ts'
import { printfOutput } from '../special/printed-output.ts'
import { runCodeVariable } from './code-variables.ts'
import { expansionScope } from './expansion-scope.ts'
import { certainPath } from './resolve-path.ts'
import { type Invocation, insideStep, type ShellFrame, viaStep } from './shell-run.ts'
import {
  assignVariable,
  defineAlias,
  eitherWay,
  exportVariable,
  forkState,
  joinStates,
  type ShellOutcome,
  type ShellState,
  UNKNOWN_ARGUMENTS,
} from './shell-state.ts'

type Builtin = (invocation: Invocation) => ShellOutcome | undefined

/** Commands of the shell itself that change its state or run code. */
export const builtins: Readonly<Record<string, Builtin>> = {
  cd: changeFolder,
  chdir: changeFolder,
  pushd: changeFolder,
  popd: ({ state }) => eitherWay({ ...state, cwd: undefined }, EMPTY_TEXT),
  export: declare,
  readonly: declare,
  declare,
  typeset: declare,
  local: declare,
  integer: declare,
  float: declare,
  unset,
  set: setPositional,
  shift,
  eval: evaluate,
  source,
  '.': source,
  trap,
  read: readInput,
  mapfile: readArray,
  readarray: readArray,
  getopts: ({ args, state }) => forget(state, args.slice(1, 2)),
  let: evaluateLet,
  printf: printInto,
  alias: defineAliases,
  unalias: ({ state }) => eitherWay({ ...state, aliases: new Map() }, EMPTY_TEXT),
  exit,
  return: returnFromFunction,
  break: leaveLoop,
  continue: leaveLoop,
  shopt: unchanged,
  hash: hideProgram('-p', 'hash -p lets a name run another program'),
  enable: hideProgram('-f', 'enable -f loads commands from a file'),
  compgen: completeCode,
  complete: completeCode,
  bind: completeCode,
}

/** A builtin that, with this option, changes which program a name runs. */
function hideProgram(option: string, detail: string): Builtin {
  return (invocation) => {
    const { args, frame, at } = invocation
    if (args.some((arg) => describeField(arg).startsWith(option)))
      frame.run.record.addOpaque('program', detail, at)
    return unchanged(invocation)
  }
}

function unchanged({ state }: Invocation): ShellOutcome {
  return eitherWay(state, EMPTY_TEXT)
}

function changeFolder({ args, state, frame }: Invocation): ShellOutcome {
  const [target] = args.filter((arg) => !/^-[LPe@q]+$|^--$/.test(describeField(arg)))
  const written = target && describeField(target)
  const { home } = frame.run.context
  const cwd = target === undefined ? home : written === '-' ? undefined : certainPath(target, state.cwd)
  // `CDPATH` and `OLDPWD` lead elsewhere.
  const isCertain = state.variables.get('CDPATH') === undefined
  const moved = { ...forkState(state), cwd: isCertain ? cwd : undefined }
  return { ok: [moved], fail: [state], stdout: EMPTY_TEXT }
}

function declare({ program, args, state, frame }: Invocation): ShellOutcome {
  const before = forkState(state)
  const texts = args.map(describeField)
  const isExport = program === 'export' || texts.some((text) => /^-\w*x/.test(text))
  const isLocal =
    program !== 'export' &&
    program !== 'readonly' &&
    frame.returns !== undefined &&
    !texts.some((text) => /^-\w*g/.test(text))
  const isFunction = texts.some((text) => /^-\w*f/.test(text))
  for (const [index, text] of texts.entries()) {
    const [, name, equals] = /^([A-Za-z_]\w*)(\+?=)?/.exec(text) ?? []
    if (name === undefined || text.startsWith('-')) continue
    if (isExport || isFunction) exportVariable(state, name)
    if (isLocal && !state.locals.has(name))
      state.locals = new Map(state.locals).set(name, state.variables.get(name))
    runSubscript(text, state, frame)
    const value =
      equals === undefined ? undefined : fieldText(sliceField(args[index] ?? [], name.length + equals.length))
    if (value)
      assignVariable(
        state,
        name,
        equals === '+=' || /^-\w*[iulnA]/.test(texts[0] ?? '') ? unknownText(`$${name}`) : value,
      )
    else if (isLocal) assignVariable(state, name, EMPTY_TEXT)
    if (value && isExport) runCodeVariable(name, state, frame)
  }
  // dash has none of these, and `sh` may be dash.
  if (frame.dialect === 'sh' && /^(?:declare|typeset|integer|float)$/.test(program))
    return { ok: [state], fail: [state, before], stdout: EMPTY_TEXT }
  return eitherWay(state, EMPTY_TEXT)
}

/** A substitution in the subscript of a name or of a number runs, although it came in quotes: `unset 'a[$(code)]'`. */
function runSubscript(text: string, state: ShellState, frame: ShellFrame): void {
  if (/\[.*(?:\$\(|`)/s.test(text)) expansionScope(state, frame).runPrompt(text)
}

function unset({ args, state, frame }: Invocation): ShellOutcome {
  const names = args.map(describeField)
  for (const name of names) runSubscript(name, state, frame)
  const functions = new Map(state.functions)
  for (const name of names) {
    if (/^[A-Za-z_]\w*$/.test(name) && !names.includes('-f')) assignVariable(state, name, EMPTY_TEXT)
    if (!names.includes('-v')) functions.delete(name)
  }
  state.functions = functions
  return eitherWay(state, EMPTY_TEXT)
}

function setPositional({ args, state }: Invocation): ShellOutcome {
  const texts = args.map(describeField)
  const dashes = texts.indexOf('--')
  const start = dashes === -1 ? texts.findIndex((text) => !/^[-+]/.test(text)) : dashes + 1
  const usesName = start > 0 && /^[-+]o$/.test(texts[start - 1] ?? '')
  if (start === -1 || usesName) return eitherWay(state, EMPTY_TEXT)
  return eitherWay({ ...state, positional: positionalTexts(args.slice(start)) }, EMPTY_TEXT)
}

function shift({ args, state }: Invocation): ShellOutcome {
  const count = args[0] ? Number(describeField(args[0])) : 1
  const many = firstMany(state.positional)
  const isKnown = Number.isInteger(count) && count >= 0
  const kept = { ...state, positional: isKnown ? state.positional.slice(count) : UNKNOWN_ARGUMENTS }
  // Of arguments that may be none or several, any may stay.
  const ok =
    isKnown && many !== -1 && many < count
      ? [
          { ...state, positional: state.positional.slice(many) },
          { ...state, positional: UNKNOWN_ARGUMENTS },
        ]
      : [kept]
  return { ok, fail: [state], stdout: EMPTY_TEXT }
}

function evaluate({ args, state, frame }: Invocation): ShellOutcome {
  const words = describeField(args[0] ?? []) === '--' ? args.slice(1) : args
  const { skipsFunctions: _skips, ...inside } = frame
  return frame.run.runCode(joinWords(words), state, insideStep(inside, 'eval'))
}

function source({ args, state, frame, program }: Invocation): ShellOutcome {
  const [file, ...rest] = describeField(args[0] ?? []) === '--' ? args.slice(1) : args
  if (!file) return eitherWay(state, EMPTY_TEXT)
  const given = rest.length === 0 ? state : { ...state, positional: positionalTexts(rest) }
  // dash ignores further arguments, and `sh` may be dash.
  const starts = rest.length > 0 && frame.dialect === 'sh' ? [given, forkState(state)] : [given]
  const returns: ShellState[] = []
  const inside = { ...viaStep(frame, `${program} ${describeField(file)}`), returns }
  const outcomes = starts.map((start) => runScriptFile(file, start, inside, program))
  return {
    ok: joinStates([...outcomes.flatMap(({ ok }) => ok), ...returns]),
    fail: joinStates([...outcomes.flatMap(({ fail }) => fail), ...returns]),
    stdout: outcomes.length === 1 ? (outcomes[0]?.stdout ?? EMPTY_TEXT) : unknownText('$(…)'),
  }
}

function trap({ args, state, frame }: Invocation): ShellOutcome {
  const [code, ...signals] = args.filter((arg) => describeField(arg) !== '--')
  const text = code && describeField(code)
  if (!code || text === '-' || text === '' || /^-[lp]$/.test(text ?? '') || signals.length === 0)
    return eitherWay(state, EMPTY_TEXT)
  const inside = insideStep(frame, 'trap')
  frame.run.exitTraps.push({ code: fieldText(code), frame: inside })
  const isExit = signals.every((signal) => /^(EXIT|0)$/i.test(describeField(signal)))
  // A signal may come at any time, so the state of now counts as well.
  if (!isExit) frame.run.runCode(fieldText(code), forkState(state), inside)
  return eitherWay(state, EMPTY_TEXT)
}

function readInput({ args, state, frame }: Invocation): ShellOutcome {
  const withValue = /^-\w*[adinNptu]$/
  const names: string[] = []
  let hasOptions = false
  for (let index = 0; index < args.length; index++) {
    const text = describeField(args[index] ?? [])
    if (/^-./.test(text)) {
      hasOptions ||= text !== '-r'
      if (withValue.test(text)) {
        if (/^-\w*a$/.test(text)) names.push(describeField(args[index + 1] ?? []))
        index++
      }
    } else names.push(text.replace(/\?.*/, ''))
  }
  const line = knownText(frame.stdin)?.split('\n')[0]
  const isSimple =
    line !== undefined &&
    !hasOptions &&
    frame.loops === undefined &&
    !line.includes('\\') &&
    state.variables.get('IFS') === undefined
  const words = line?.trim().split(/[ \t]+/) ?? []
  for (const [index, name] of (names.length > 0 ? names : ['REPLY']).entries()) {
    runSubscript(name, state, frame)
    const isLast = index >= names.length - 1
    const value: ShellText = isSimple
      ? [isLast ? words.slice(index).join(' ') : (words[index] ?? '')]
      : unknownText(`$${name}`)
    if (/^[A-Za-z_]\w*$/.test(name))
      assignVariable(
        state,
        name,
        isSimple && isLast && words.length > names.length ? unknownText(`$${name}`) : value,
      )
  }
  return eitherWay(state, EMPTY_TEXT)
}

function readArray({ args, state, frame }: Invocation): ShellOutcome {
  const callback = args[args.findIndex((arg) => describeField(arg) === '-C') + 1]
  if (callback && args.some((arg) => describeField(arg) === '-C'))
    frame.run.runCode(fieldText(callback), forkState(state), viaStep(frame, 'mapfile -C'))
  const texts = args.map(describeField)
  const name = args.length > 0 && !/^-/.test(texts.at(-1) ?? '') ? (texts.at(-1) ?? '') : 'MAPFILE'
  const input = knownText(frame.stdin)
  const isPlain = texts.slice(0, -1).every((text) => text === '-t') && (texts.length < 2 || texts[0] === '-t')
  if (input === undefined || !isPlain) return forget(state, [...args.slice(-1), exactField('MAPFILE')])
  const lines = input.replace(/\n$/, '').split('\n')
  assignVariable(
    state,
    name,
    lines.map((line) => [texts.includes('-t') ? line : `${line}\n`]),
  )
  return eitherWay(state, EMPTY_TEXT)
}

/** The variables get a value that is not known. */
function forget(state: ShellState, names: readonly WordField[]): ShellOutcome {
  for (const name of names.map(describeField))
    if (/^[A-Za-z_]\w*$/.test(name)) assignVariable(state, name, unknownText(`$${name}`))
  return eitherWay(state, EMPTY_TEXT)
}

function evaluateLet({ args, state, frame }: Invocation): ShellOutcome {
  const before = forkState(state)
  const scope = arithmeticScope(expansionScope(state, frame))
  for (const arg of args) {
    runSubscript(describeField(arg), state, frame)
    evaluateArithmetic(describeField(arg), scope)
  }
  // dash has no `let`, and `sh` may be dash.
  if (frame.dialect === 'sh') return { ok: [state], fail: [state, before], stdout: EMPTY_TEXT }
  return eitherWay(state, EMPTY_TEXT)
}

/** `printf -v name` assigns; otherwise printf is an ordinary program. */
function printInto(invocation: Invocation): ShellOutcome | undefined {
  const { args, state, frame } = invocation
  const [option, name, ...rest] = args
  if (!option || !name || describeField(option) !== '-v') return undefined
  runSubscript(describeField(name), state, frame)
  // dash has no `-v`, and `sh` may be dash.
  if (frame.dialect === 'sh') return forget(state, [name])
  const text = printfOutput({ ...invocation, args: rest }) ?? unknownText('$(printf)')
  assignVariable(state, describeField(name), text)
  return eitherWay(state, EMPTY_TEXT)
}

function defineAliases({ args, state, frame, at }: Invocation): ShellOutcome {
  for (const arg of args) {
    const [, name, code] = /^([^=\s]+)=([\s\S]*)$/.exec(describeField(arg)) ?? []
    if (name === undefined || code === undefined) continue
    if (isFieldKnown(arg)) defineAlias(state, name, code)
    else frame.run.record.addOpaque('code', `the alias ${name} is not known`, at)
  }
  if (args.some((arg) => /^-[gs]/.test(describeField(arg))))
    frame.run.record.addOpaque('code', 'a global alias may change every word', at)
  return eitherWay(state, EMPTY_TEXT)
}

function exit({ args, state, frame }: Invocation): ShellOutcome | undefined {
  // With two arguments, or none that is a number, a shell may refuse and go on.
  const isCertain = args.length === 0 || (args.length === 1 && /^\d+$/.test(describeField(args[0] ?? [])))
  frame.run.exits.push(state)
  return isCertain ? { ok: [], fail: [], stdout: EMPTY_TEXT } : undefined
}

function returnFromFunction({ state, frame }: Invocation): ShellOutcome | undefined {
  // Outside of a function it is an error, and the shell goes on.
  frame.returns?.push(state)
  return eitherWay(state, EMPTY_TEXT)
}

function leaveLoop({ state, frame }: Invocation): ShellOutcome {
  for (const left of frame.loops ?? []) left.push(state)
  return eitherWay(state, EMPTY_TEXT)
}

/** Completions and key bindings run code later. */
function completeCode({ program, args, state, frame }: Invocation): ShellOutcome {
  for (const [index, arg] of args.entries()) {
    const code = args[index + 1]
    if (/^-[CFx]$/.test(describeField(arg)) && code)
      frame.run.runCode(fieldText(code), forkState(state), viaStep(frame, program))
    // Its words are expanded.
    if (describeField(arg) === '-W' && code)
      frame.run.runCode([': ', ...fieldText(code)], forkState(state), viaStep(frame, program))
  }
  return eitherWay(state, EMPTY_TEXT)
}
