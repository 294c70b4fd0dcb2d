import { evaluateArithmetic } from '../expand/evaluate-arithmetic.ts'
import { arithmeticScope, expandWithoutSplitting, expandWord } from '../expand/expand-word.ts'
import {
  compactText,
  describeText,
  EMPTY_TEXT,
  fieldText,
  isFieldKnown,
  knownText,
  type ShellText,
  unknownField,
  unknownText,
  type WordField,
} from '../expand/shell-text.ts'
import type { Script, ShellNode, Word } from '../parse/shell-syntax.ts'
import { applyRedirects } from './apply-redirects.ts'
import { expansionScope } from './expansion-scope.ts'
import { runSimple } from './run-simple.ts'
import { type ShellFrame, viaStep, withOwnTraps } from './shell-run.ts'
import {
  assignVariable,
  defineFunction,
  eitherWay,
  forkState,
  joinOutcomes,
  joinStates,
  SESSION_ARGUMENTS,
  type ShellOutcome,
  type ShellState,
  widenState,
  withFilesOf,
} from './shell-state.ts'

/** Runs the commands of a script one after the other, from every state that is possible before it. */
export function runScript(script: Script, states: readonly ShellState[], given: ShellFrame): ShellOutcome {
  const frame = given.hasOwnInput ? { ...given, hasOwnInput: false } : given
  let last: ShellOutcome = { ok: states, fail: [], stdout: EMPTY_TEXT }
  const printed: ShellText[] = []
  for (const command of script.commands) {
    const live = joinStates([...last.ok, ...last.fail])
    if (live.length === 0) break
    last = runFromAll(command, live, frame)
    printed.push(last.stdout)
  }
  return { ...last, stdout: compactText(printed.flat()) }
}

function runFromAll(node: ShellNode, states: readonly ShellState[], frame: ShellFrame): ShellOutcome {
  const [only] = states
  if (only && states.length === 1) return runNode(node, only, frame)
  return joinOutcomes(states.map((state) => runNode(node, state, frame)))
}

function runNode(node: ShellNode, state: ShellState, frame: ShellFrame): ShellOutcome {
  frame.run.record.countStep()
  switch (node.kind) {
    case 'simple':
      return runSimple(node, forkState(state), frame)
    case 'pipeline':
      return runPipeline(node, state, frame)
    case 'and':
    case 'or':
      return runAndOr(node, state, frame)
    case 'background':
      return runInSubshell(node.command, state, frame)
    case 'coproc':
      return runInSubshell(node.command, state, { ...frame, via: [...frame.via, 'coproc'] })
    case 'subshell':
      return runInSubshell({ kind: 'group', body: node.body }, state, frame)
    case 'group':
      return frame.run.runScript(node.body, [state], frame)
    case 'if':
      return runIf(node, state, frame)
    case 'while':
      return runWhile(node, state, frame)
    case 'for':
      return runFor(node, state, frame)
    case 'arithmetic-for':
      return runArithmeticFor(node, state, frame)
    case 'case':
      return runCase(node, state, frame)
    case 'function': {
      const after = forkState(state)
      defineFunction(after, node.name, node.body)
      if (calledByShell.test(node.name))
        frame.run.runScript({ kind: 'script', commands: [node.body] }, [forkState(after)], {
          ...viaStep(frame, `${node.name}()`),
          depth: frame.depth + 1,
        })
      return { ok: [after], fail: [], stdout: EMPTY_TEXT }
    }
    case 'test':
      return runTest(node.words, forkState(state), frame)
    case 'arithmetic':
      return runArithmetic(node.expression, forkState(state), frame)
    case 'redirected': {
      const after = forkState(state)
      const redirected = applyRedirects(node.redirects, after, frame)
      return redirected.finish(runNode(node.command, after, redirected.frame))
    }
  }
}

/** Functions that a shell calls by itself. */
const calledByShell =
  /^(?:command_not_found_handler?|precmd|preexec|chpwd|periodic|zshexit|zshaddhistory|TRAP[A-Z0-9]+|fish_prompt|fish_command_not_found)$/

type NodeOf<K extends ShellNode['kind']> = Extract<ShellNode, { kind: K }>

function runInSubshell(node: ShellNode, state: ShellState, frame: ShellFrame): ShellOutcome {
  const outcome = withOwnTraps(frame.run, () => runNode(node, forkState(state), frame))
  return eitherWay(withFilesOf(state, outcome), outcome.stdout)
}

/** Every command of a pipeline runs in a shell of its own; in zsh the last one does not. */
function runPipeline(
  { commands, negated }: NodeOf<'pipeline'>,
  state: ShellState,
  frame: ShellFrame,
): ShellOutcome {
  if (commands.length === 1 && commands[0]) {
    const { ok, fail, stdout } = runNode(commands[0], state, frame)
    return negated ? { ok: fail, fail: ok, stdout } : { ok, fail, stdout }
  }
  let { stdin } = frame
  let after = state
  let last: ShellOutcome | undefined
  for (const command of commands) {
    const isPiped = frame.dialect === 'zsh' && command !== commands.at(-1)
    const inside = { ...frame, isPiped, ...(stdin === undefined ? {} : { stdin, hasOwnInput: true }) }
    last = withOwnTraps(frame.run, () => runNode(command, forkState(after), inside))
    stdin = last.stdout
    if (command !== commands.at(-1) || frame.dialect !== 'zsh') after = withFilesOf(after, last)
  }
  // An assignment at the end of a pipeline has the status of a command before it.
  if (frame.dialect === 'zsh' && last) return last.fail.length === 0 ? { ...last, fail: last.ok } : last
  return eitherWay(after, stdin ?? EMPTY_TEXT)
}

function runAndOr(
  { kind, left, right }: NodeOf<'and' | 'or'>,
  state: ShellState,
  frame: ShellFrame,
): ShellOutcome {
  const first = runNode(left, state, frame)
  const [continues, stops] = kind === 'and' ? [first.ok, first.fail] : [first.fail, first.ok]
  if (continues.length === 0) return first
  const second = runFromAll(right, continues, frame)
  const stdout =
    stops.length === 0 ? [...first.stdout, ...second.stdout] : joinMaybe(first.stdout, second.stdout)
  return kind === 'and'
    ? { ok: second.ok, fail: joinStates([...stops, ...second.fail]), stdout }
    : { ok: joinStates([...stops, ...second.ok]), fail: second.fail, stdout }
}

/** The second text may or may not follow the first. */
function joinMaybe(first: ShellText, second: ShellText): ShellText {
  return second.length === 0 ? first : [...first, ...unknownText('…')]
}

function runIf(
  { condition, then, otherwise }: NodeOf<'if'>,
  state: ShellState,
  frame: ShellFrame,
): ShellOutcome {
  const tested = frame.run.runScript(condition, [state], frame)
  const yes = frame.run.runScript(then, tested.ok, frame)
  const no: ShellOutcome =
    otherwise === undefined || tested.fail.length === 0
      ? { ok: tested.fail, fail: [], stdout: EMPTY_TEXT }
      : otherwise.kind === 'script'
        ? frame.run.runScript(otherwise, tested.fail, frame)
        : runFromAll(otherwise, tested.fail, frame)
  const outcome = joinOutcomes([yes, no])
  return { ...outcome, stdout: [...tested.stdout, ...outcome.stdout] }
}

/** The frame inside of a loop, and the states in which the body leaves or continues it. */
function enterLoop(frame: ShellFrame): { readonly inside: ShellFrame; readonly left: ShellState[] } {
  const left: ShellState[] = []
  return { inside: { ...frame, loops: [...(frame.loops ?? []), left] }, left }
}

/** Runs a body until the state no longer changes: what an iteration changes is unknown in the next. */
function runLoop(
  state: ShellState,
  frame: ShellFrame,
  body: (state: ShellState, inside: ShellFrame) => readonly ShellOutcome[],
): ShellOutcome {
  const { inside, left } = enterLoop(frame)
  let current = state
  let stdout: ShellText = EMPTY_TEXT
  for (let round = 0; round < 6; round++) {
    const outcomes = body(forkState(current), inside)
    if (outcomes.some((outcome) => outcome.stdout.length > 0)) stdout = unknownText('$(…)')
    const after = [...outcomes.flatMap(({ ok, fail }) => [...ok, ...fail]), ...left]
    const next = after.reduce((a, b) => widenState(a, b), current)
    if (next === current) break
    current = next
  }
  const ended = joinStates([state, current])
  return { ok: ended, fail: ended, stdout }
}

function runWhile({ condition, body }: NodeOf<'while'>, state: ShellState, frame: ShellFrame): ShellOutcome {
  return runLoop(state, frame, (current, inside) => {
    const tested = frame.run.runScript(condition, [current], inside)
    return [tested, frame.run.runScript(body, joinStates([...tested.ok, ...tested.fail]), inside)]
  })
}

function runArithmeticFor(
  { expression, body }: NodeOf<'arithmetic-for'>,
  state: ShellState,
  frame: ShellFrame,
): ShellOutcome {
  const start = forkState(state)
  const text = expandWithoutSplitting(expression, expansionScope(start, frame))
  // The head changes its variables with every iteration.
  for (const [name] of (knownText(text) ?? '').matchAll(/[A-Za-z_]\w*/g))
    assignVariable(start, name, unknownText(`$${name}`))
  return runLoop(start, frame, (current, inside) => [frame.run.runScript(body, [current], inside)])
}

const MAX_ITERATIONS = 64

function runFor(node: NodeOf<'for'>, state: ShellState, frame: ShellFrame): ShellOutcome {
  const { name, words, body } = node
  const start = forkState(state)
  const scope = expansionScope(start, frame)
  const items: readonly WordField[] = words
    ? words.flatMap((word) => expandWord(word, scope))
    : start.positional === SESSION_ARGUMENTS
      ? [unknownField('$@')]
      : start.positional.map((text) => text.map((value) => ({ value, quoted: true })))
  if (items.length > MAX_ITERATIONS || items.some((item) => !isFieldKnown(item)))
    return runForUnknown(node, items, start, frame)
  const { inside, left } = enterLoop(frame)
  let states: readonly ShellState[] = [start]
  const printed: ShellText[] = []
  for (const item of items) {
    const before = states.map((each) => {
      const copy = forkState(each)
      assignVariable(copy, name, loopValue(item))
      return copy
    })
    const outcome = frame.run.runScript(body, before, inside)
    printed.push(left.length > 0 ? unknownText('$(…)') : outcome.stdout)
    states = joinStates([...outcome.ok, ...outcome.fail, ...left])
  }
  return { ok: states, fail: states, stdout: compactText(printed.flat()) }
}

/** A pattern becomes file names, one per iteration. */
function loopValue(item: WordField): ShellText {
  const isPattern = item.some(
    ({ value, quoted }) => !quoted && typeof value === 'string' && /[*?[]/.test(value),
  )
  if (!isPattern) return fieldText(item)
  const pattern = describeText(fieldText(item))
  return [{ source: pattern, pattern }]
}

function runForUnknown(
  { name, body }: NodeOf<'for'>,
  items: readonly WordField[],
  state: ShellState,
  frame: ShellFrame,
): ShellOutcome {
  // The known items still run with their value.
  const known = items.filter(isFieldKnown).slice(0, MAX_ITERATIONS).map(fieldText)
  return runLoop(state, frame, (current, inside) =>
    [unknownText(`$${name}`), ...known].map((value) => {
      const before = forkState(current)
      assignVariable(before, name, value)
      return frame.run.runScript(body, [before], inside)
    }),
  )
}

function runCase({ subject, clauses }: NodeOf<'case'>, state: ShellState, frame: ShellFrame): ShellOutcome {
  const start = forkState(state)
  const scope = expansionScope(start, frame)
  expandWithoutSplitting(subject, scope)
  let states: readonly ShellState[] = [start]
  let stdout: ShellText = EMPTY_TEXT
  for (const { patterns, body } of clauses) {
    for (const pattern of patterns) expandWithoutSplitting(pattern, scope)
    const outcome = frame.run.runScript(body, states, frame)
    if (outcome.stdout.length > 0) stdout = unknownText('$(…)')
    // A clause may fall through into the next one.
    states = joinStates([...states, ...outcome.ok, ...outcome.fail])
  }
  return { ok: states, fail: states, stdout }
}

function runTest(words: readonly Word[], state: ShellState, frame: ShellFrame): ShellOutcome {
  const scope = expansionScope(state, frame)
  const texts = words.map((word) => knownText(expandWithoutSplitting(word, scope)))
  for (const [index, text = ''] of texts.entries()) {
    // Both sides of `-eq` are arithmetic, and the subscript of `-v` is expanded again.
    const sides = /^-(?:eq|ne|l[te]|g[te])$/.test(text) ? [texts[index - 1], texts[index + 1]] : []
    for (const side of sides) if (side !== undefined) evaluateArithmetic(side, arithmeticScope(scope))
    const name = text === '-v' ? texts[index + 1] : undefined
    if (name !== undefined && /\$\(|`/.test(name)) scope.runPrompt(name)
  }
  return eitherWay(state, EMPTY_TEXT)
}

function runArithmetic(expression: Word, state: ShellState, frame: ShellFrame): ShellOutcome {
  const scope = expansionScope(state, frame)
  const text = knownText(expandWithoutSplitting(expression, scope))
  if (text !== undefined) evaluateArithmetic(text, arithmeticScope(scope))
  return eitherWay(state, EMPTY_TEXT)
}
