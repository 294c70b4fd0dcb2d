import { programName } from '../commands/program-name.ts'
import { runProgram } from '../commands/run-program.ts'
import type { ExpansionScope } from '../expand/expand-parameter.ts'
import { expandWithoutSplitting, expandWord } from '../expand/expand-word.ts'
import {
  describeField,
  EMPTY_TEXT,
  fieldText,
  hasPattern,
  isFieldKnown,
  isList,
  knownText,
  positionalTexts,
  type ShellText,
  unknownText,
  type VariableValue,
  type WordField,
} from '../expand/shell-text.ts'
import { declarations } from '../parse/parse-shell.ts'
import type { Assignment, SimpleCommand, Word } from '../parse/shell-syntax.ts'
import { applyRedirects } from './apply-redirects.ts'
import { runCodeVariable } from './code-variables.ts'
import { expansionScope } from './expansion-scope.ts'
import { findHiddenCharacters } from './hidden-characters.ts'
import { type ShellFrame, type ShellRun, viaStep } from './shell-run.ts'
import {
  assignVariable,
  defineAlias,
  eitherWay,
  exportVariable,
  forkState,
  joinOutcomes,
  joinStates,
  restoreVariable,
  type ShellOutcome,
  type ShellState,
} from './shell-state.ts'

/** Runs a simple command: expansion, redirections, assignments, then the program. */
export function runSimple(node: SimpleCommand, state: ShellState, frame: ShellFrame): ShellOutcome {
  const scope = expansionScope(state, frame)
  const fields = node.words.flatMap((word) => expandWord(word, scope))
  const redirected = applyRedirects(node.redirects, state, frame)
  const { variables: before, exported } = state
  for (const assignment of node.assignments) {
    assign(assignment, state, scope)
    assignAlias(assignment, state, frame)
  }
  const inside: ShellFrame = { ...redirected.frame, at: frame.at ?? node.at }
  for (const { name } of node.assignments) runCodeVariable(name, state, inside)
  if (fields.length === 0) {
    // `$(<file)` is the content of the file.
    const input = redirected.frame.stdin === frame.stdin ? undefined : redirected.frame.stdin
    const outcome = redirected.finish(eitherWay(state, input ?? EMPTY_TEXT))
    // dash takes `x+=1` and `x[0]=1` for the names of programs, and `sh` may be dash.
    if (frame.dialect === 'sh' && node.assignments.some(({ append, subscript }) => append || subscript))
      return { ...outcome, fail: [{ ...state, variables: before }] }
    return isCertainSuccess(node) ? { ...outcome, fail: [] } : outcome
  }
  for (const { name } of node.assignments) exportVariable(state, name)
  // The words of an alias are expanded before the assignments in front of it.
  const aliased = runAliases(node, { ...state, variables: before }, inside)
  const outcome = frame.run.runWords(fields, state, inside)
  const all =
    aliased.length === 0 ? outcome : { ...joinOutcomes([outcome, ...aliased]), stdout: unknownText('$(…)') }
  const first = describeField(fields[0] ?? [])
  // Assignments before a program last as long as the program; those of a declaration stay.
  const keeps = declarations.has(first) || (frame.dialect === 'sh' && specialBuiltins.has(first))
  if (node.assignments.length === 0 || keeps) return redirected.finish(all)
  const names = node.assignments.map(({ name }) => name)
  const restored = (states: readonly ShellState[]) =>
    states.map((each) => {
      const after = forkState(each)
      for (const name of names) restoreVariable(after, name, before.get(name))
      after.exported = exported
      return after
    })
  return redirected.finish({ ...all, ok: restored(all.ok), fail: restored(all.fail) })
}

/** A plain assignment does not fail; a redirection, an expansion and a substitution can. */
function isCertainSuccess({ words, redirects, assignments }: SimpleCommand): boolean {
  return words.length === 0 && redirects.length === 0 && !assignments.some(hasSubstitution)
}

function hasSubstitution({ value }: Assignment): boolean {
  const words: readonly Word[] = 'parts' in value ? [value] : value
  return words.some(({ parts }) => parts.some(({ kind }) => kind !== 'text'))
}

/** In POSIX sh, assignments before these stay. */
const specialBuiltins = new Set(
  '. : break continue eval exec exit export readonly return set shift times trap unset'.split(' '),
)

function assign(
  { name, append, subscript, value }: Assignment,
  state: ShellState,
  scope: ExpansionScope,
): void {
  const old = state.variables.get(name) ?? scope.lookUp(name)
  if ('parts' in value) {
    const text = expandWithoutSplitting(value, scope)
    if (subscript)
      assignVariable(state, name, withElement(old, expandWithoutSplitting(subscript, scope), text))
    else if (!append) assignVariable(state, name, text)
    else if (isList(old)) assignVariable(state, name, [...old, text])
    else assignVariable(state, name, [...(old ?? unknownText(`$${name}`)), ...text])
    return
  }
  const items = value.flatMap((word) => expandWord(word, scope)).map(fieldText)
  const isPlain = !value.some(({ parts: [part] }) => part?.kind === 'text' && /^\[.*\]=/.test(part.text))
  const kept = append && old !== undefined ? (isList(old) ? old : [old]) : []
  assignVariable(state, name, isPlain ? [...kept, ...items] : unknownText(`$${name}`))
}

/** The variables with which bash and zsh show and set aliases. */
const aliasTable = /^(?:BASH_ALIASES|g?aliases)$/

/** `BASH_ALIASES[name]=code` */
function assignAlias({ name, subscript, value }: Assignment, state: ShellState, frame: ShellFrame): void {
  if (!aliasTable.test(name)) return
  const scope = expansionScope(state, frame)
  const alias = subscript && knownText(expandWithoutSplitting(subscript, scope))
  const code = 'parts' in value ? knownText(expandWithoutSplitting(value, scope)) : undefined
  if (alias !== undefined && code !== undefined) defineAlias(state, alias, code)
  else frame.run.record.addOpaque('code', `which alias ${name} sets is not known`, frame.at ?? 0)
}

function withElement(old: VariableValue | undefined, index: ShellText, text: ShellText): VariableValue {
  const place = Number(knownText(index) ?? Number.NaN)
  const list = isList(old) ? old : old === undefined ? [] : [old]
  return Number.isInteger(place) && place >= 0 && place <= list.length
    ? list.toSpliced(place, 1, text)
    : unknownText('$array')
}

/** An alias is replaced as text. Whether the shell does it depends on its options, so both readings count. */
function runAliases(node: SimpleCommand, state: ShellState, frame: ShellFrame): readonly ShellOutcome[] {
  const [part] = node.words[0]?.parts ?? []
  if (part?.kind !== 'text' || part.quoted || node.words[0]?.parts.length !== 1) return []
  const texts = state.aliases.get(part.text) ?? []
  const name = part.text
  if (texts.some((text) => text.includes('<<')))
    frame.run.record.addOpaque(
      'code',
      `what the here-document of the alias ${name} runs is not known`,
      node.at,
    )
  // The shell does not replace an alias again inside of itself; `eval` and scripts are read anew.
  const replaced = frame.replaced?.depth === frame.depth ? frame.replaced.names : []
  if (replaced.includes(name)) return []
  const inside = {
    ...viaStep(frame, `alias ${name}`),
    replaced: { names: [...replaced, name], depth: frame.depth + 1 },
  }
  return texts.map((text) =>
    frame.run.runCode(
      [`${text} ${/\s$/.test(text) ? withNextAlias(node.rest, state) : node.rest}`],
      forkState(state),
      inside,
    ),
  )
}

/** After an alias that ends with a blank, the shell replaces the next word too. */
function withNextAlias(rest: string, { aliases }: ShellState): string {
  return rest.replace(/^\s*([^\s;|&<>()'"$]+)/, (word, name: string) => aliases.get(name)?.[0] ?? word)
}

/** Runs a command that is split into words. */
export function runWords(words: readonly WordField[], state: ShellState, frame: ShellFrame): ShellOutcome {
  const [head, ...args] = words
  if (!head) return eitherWay(state, EMPTY_TEXT)
  const at = frame.at ?? 0
  const { record } = frame.run
  const written = assumedText(head)
  if (!isFieldKnown(head) || hasPattern(head)) {
    record.addOpaque('program', `which program ${describeField(head)} runs is not known`, at)
    if (written === '') return runWithoutHead(head, args, state, frame)
    if (hasPattern(head)) return eitherWay(state, unknownText('$(…)'))
  }
  // `npx https://host/package.tgz`
  if (frame.remote === undefined && /^[a-z][a-z+]*:\/\//i.test(written))
    record.addOpaque('program', `the program comes from ${written}`, at)
  const hidden = findHiddenCharacters(written, words)
  if (hidden !== undefined) record.addOpaque('characters', hidden, at)
  const body = frame.skipsFunctions ? undefined : state.functions.get(written)
  if (body) return callFunction(written, args, state, frame)
  const program = programName(written.slice(written.lastIndexOf('/') + 1))
  return runProgram({ program, written, args, state, frame, at })
}

/** The text if nothing outside of the line sets its variables. */
function assumedText(field: WordField): string {
  return field.map(({ value }) => (typeof value === 'string' ? value : (value.assumed ?? ''))).join('')
}

/** An unknown value may be empty, and then the next word is the program. */
function runWithoutHead(
  head: WordField,
  args: readonly WordField[],
  state: ShellState,
  frame: ShellFrame,
): ShellOutcome {
  const mayVanish = head.every(({ quoted }) => !quoted)
  if (!mayVanish || args.length === 0) return eitherWay(state, unknownText('$(…)'))
  return {
    ...frame.run.runWords(args, state, viaStep(frame, describeField(head))),
    stdout: unknownText('$(…)'),
  }
}

const MAX_CALLS = 8

function callFunction(
  name: string,
  args: readonly WordField[],
  state: ShellState,
  frame: ShellFrame,
): ShellOutcome {
  if (frame.depth > MAX_CALLS) {
    frame.run.record.addOpaque('budget', `the calls of ${name} are nested too deeply`, frame.at ?? 0)
    return eitherWay(state, unknownText('$(…)'))
  }
  const returns: ShellState[] = []
  const { at: _place, ...outside } = frame
  const inside: ShellFrame = { ...viaStep(outside, `${name}()`), depth: frame.depth + 1, returns }
  const start: ShellState = { ...state, positional: positionalTexts(args), locals: new Map() }
  const trapCount = frame.run.exitTraps.length
  const outcomes = (state.functions.get(name) ?? []).map((body) =>
    frame.run.runScript({ kind: 'script', commands: [body] }, [start], inside),
  )
  // zsh runs the exit traps of a function when the function ends.
  const traps = frame.dialect === 'zsh' ? frame.run.exitTraps.splice(trapCount) : []
  const restored = (states: readonly ShellState[]) =>
    afterTraps(joinStates(states.map((after) => leaveFunction(after, state))), traps)
  return {
    ok: restored([...outcomes.flatMap(({ ok }) => ok), ...returns]),
    fail: restored([...outcomes.flatMap(({ fail }) => fail), ...returns]),
    stdout:
      outcomes.length === 1 && returns.length === 0
        ? (outcomes[0]?.stdout ?? EMPTY_TEXT)
        : unknownText('$(…)'),
  }
}

/** The states after traps that may or may not have been set. */
function afterTraps(states: readonly ShellState[], traps: ShellRun['exitTraps']): readonly ShellState[] {
  let current = states
  for (const { code, frame } of traps) {
    const after = current.map((state) => frame.run.runCode(code, forkState(state), frame))
    current = joinStates([...current, ...after.flatMap(({ ok, fail }) => [...ok, ...fail])])
  }
  return current
}

function leaveFunction(after: ShellState, before: ShellState): ShellState {
  const state = { ...after, positional: before.positional, locals: before.locals }
  for (const [name, value] of after.locals) restoreVariable(state, name, value)
  return state
}
