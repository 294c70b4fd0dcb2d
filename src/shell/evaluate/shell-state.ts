import { EMPTY_TEXT, type ShellText, unknownText, type VariableValue } from '../expand/shell-text.ts'
import type { ShellNode } from '../parse/shell-syntax.ts'

/** What the shell knows at one place of the line. Its maps are replaced, never changed, so that copies are cheap. */
export interface ShellState {
  /** Undefined if it cannot be known. */
  cwd: string | undefined
  variables: ReadonlyMap<string, VariableValue>
  /** The names that programs inherit. */
  exported: ReadonlySet<string>
  /** A function may have several bodies if a condition decides which one is defined. */
  functions: ReadonlyMap<string, readonly ShellNode[]>
  aliases: ReadonlyMap<string, readonly string[]>
  positional: readonly ShellText[]
  /** The variables that the running function made local, with the value that they get back. */
  locals: ReadonlyMap<string, VariableValue | undefined>
  /** The content of the files that the line itself writes. */
  files: ReadonlyMap<string, ShellText>
}

/** How a command ends: the states after success and after failure, and what it prints. */
export interface ShellOutcome {
  readonly ok: readonly ShellState[]
  readonly fail: readonly ShellState[]
  readonly stdout: ShellText
}

/** The arguments of the session's own shell. Most sessions have none, but a caller may pass some. */
export const SESSION_ARGUMENTS: readonly ShellText[] = []

/** Arguments of which nothing is known. */
export const UNKNOWN_ARGUMENTS: readonly ShellText[] = [[{ source: '$@', isMany: true }]]

const MAX_STATES = 8
const MAX_VARIABLES = 200

export function forkState(state: ShellState): ShellState {
  return { ...state }
}

/** Both success and failure lead to the same state. */
export function eitherWay(state: ShellState, stdout: ShellText): ShellOutcome {
  return { ok: [state], fail: [state], stdout }
}

/** One of several outcomes, and which is not known: what they print is known if all print the same. */
export function joinOutcomes(outcomes: readonly ShellOutcome[], source = '$(…)'): ShellOutcome {
  const [first = EMPTY_TEXT, ...others] = outcomes.map(({ stdout }) => stdout)
  const isSame = others.every((text) => JSON.stringify(text) === JSON.stringify(first))
  return {
    ok: joinStates(outcomes.flatMap(({ ok }) => ok)),
    fail: joinStates(outcomes.flatMap(({ fail }) => fail)),
    stdout: isSame ? first : unknownText(source),
  }
}

/** A state that knows the files that a subshell wrote. Everything else of the subshell is gone. */
export function withFilesOf(state: ShellState, { ok, fail }: ShellOutcome): ShellState {
  const changed = [...ok, ...fail].filter(({ files }) => files !== state.files)
  if (changed.length === 0) return state
  const [first, ...others] = changed.map(({ files }): ShellState => ({ ...state, files }))
  return others.reduce((a, b) => widenState(a, b), first ?? state)
}

export function assignVariable(state: ShellState, name: string, value: VariableValue): void {
  if (state.variables.size >= MAX_VARIABLES && !state.variables.has(name)) return
  state.variables = new Map(state.variables).set(name, value)
}

export function exportVariable(state: ShellState, name: string): void {
  if (!state.exported.has(name)) state.exported = new Set(state.exported).add(name)
}

/** Gives a variable back the value that it had. */
export function restoreVariable(state: ShellState, name: string, value: VariableValue | undefined): void {
  if (value !== undefined) return assignVariable(state, name, value)
  const variables = new Map(state.variables)
  variables.delete(name)
  state.variables = variables
}

export function writeFileContent(state: ShellState, path: string, content: ShellText): void {
  if (state.files.size >= MAX_VARIABLES && !state.files.has(path)) return
  state.files = new Map(state.files).set(path, content)
}

export function defineFunction(state: ShellState, name: string, body: ShellNode): void {
  state.functions = new Map(state.functions).set(name, [body])
}

export function defineAlias(state: ShellState, name: string, text: string): void {
  state.aliases = new Map(state.aliases).set(name, [text])
}

function isSameState(a: ShellState, b: ShellState): boolean {
  return (
    a === b ||
    (a.cwd === b.cwd &&
      a.variables === b.variables &&
      a.exported === b.exported &&
      a.functions === b.functions &&
      a.aliases === b.aliases &&
      a.positional === b.positional &&
      a.locals === b.locals &&
      a.files === b.files)
  )
}

/** The different states among these. Too many become one state in which what differs is unknown. */
export function joinStates(states: readonly ShellState[]): readonly ShellState[] {
  if (states.length < 2) return states
  const different: ShellState[] = []
  for (const state of states) if (!different.some((other) => isSameState(state, other))) different.push(state)
  return different.length > MAX_STATES ? [different.reduce((a, b) => widenState(a, b))] : different
}

/** One state that stands for both: what differs is unknown. The first one itself if it already does. */
export function widenState(a: ShellState, b: ShellState): ShellState {
  if (isSameState(a, b)) return a
  const widened: ShellState = {
    cwd: a.cwd === b.cwd ? a.cwd : undefined,
    variables: widenMap(a.variables, b.variables, (name) => unknownText(`$${name}`)),
    exported: [...a.exported].every((name) => b.exported.has(name))
      ? a.exported
      : new Set([...a.exported].filter((name) => b.exported.has(name))),
    functions: unionMap(a.functions, b.functions),
    aliases: unionMap(a.aliases, b.aliases),
    positional:
      a.positional === b.positional || isUnknownList(a.positional) ? a.positional : UNKNOWN_ARGUMENTS,
    locals: a.locals,
    files: widenMap(a.files, b.files, (path) => unknownText(path)),
  }
  return isSameState(a, widened) ? a : widened
}

function isUnknownList([first]: readonly ShellText[]): boolean {
  return first !== undefined && typeof first[0] === 'object' && first[0].source === '$@'
}

function widenMap<T>(
  a: ReadonlyMap<string, T>,
  b: ReadonlyMap<string, T>,
  unknown: (key: string) => T,
): ReadonlyMap<string, T> {
  if (a === b) return a
  const joined = new Map<string, T>()
  let changed = false
  for (const key of new Set([...a.keys(), ...b.keys()])) {
    const value = a.get(key)
    const other = b.get(key)
    const isSame =
      value !== undefined && other !== undefined && JSON.stringify(value) === JSON.stringify(other)
    joined.set(key, isSame ? value : unknown(key))
    changed ||= !isSame && JSON.stringify(value) !== JSON.stringify(unknown(key))
  }
  // The same map if nothing new is unknown: a loop ends when its state no longer changes.
  return changed || joined.size !== a.size ? joined : a
}

function unionMap<T>(
  a: ReadonlyMap<string, readonly T[]>,
  b: ReadonlyMap<string, readonly T[]>,
): ReadonlyMap<string, readonly T[]> {
  if (a === b) return a
  const joined = new Map(a)
  let changed = false
  for (const [key, values] of b) {
    const known = joined.get(key) ?? []
    const fresh = values.filter((value) => !known.includes(value))
    if (fresh.length === 0) continue
    joined.set(key, [...known, ...fresh].slice(0, MAX_STATES))
    changed = true
  }
  return changed ? joined : a
}
