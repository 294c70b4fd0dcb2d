import type { ShellDialect } from '../../engine/core/shell-effects.ts'
import {
  type Cursor,
  countOne,
  failSyntax,
  isWordEnd,
  peekPlainWord,
  ShellSyntaxProblem,
  skipBlanks,
  skipReserved,
  skipText,
  startsWith,
} from './cursor.ts'
import { readCompound, readFunctionBody, skipLines } from './read-compound.ts'
import { readRedirect } from './read-redirect.ts'
import { readEnclosed, readWord } from './read-word.ts'
import type { Assignment, Redirect, Script, ShellNode, Word } from './shell-syntax.ts'

export interface ParsedShell {
  readonly script: Script
  /** What the grammar did not accept. The script then has the commands before it. */
  readonly problem?: ShellSyntaxProblem
}

/** Parses a shell line, or a whole script. Never throws. */
export function parseShell(text: string, dialect: ShellDialect): ParsedShell {
  const cursor: Cursor = { text, pos: 0, depth: 0, words: 0, commands: 0, dialect, pending: [], readScript }
  const commands: ShellNode[] = []
  const script: Script = { kind: 'script', commands }
  try {
    readCommands(cursor, () => false, commands)
    if (cursor.pos < text.length) failSyntax(cursor, `${text[cursor.pos]} is not expected here`)
    return { script }
  } catch (error) {
    if (error instanceof ShellSyntaxProblem) return { script, problem: error }
    if (error instanceof RangeError)
      return {
        script,
        problem: new ShellSyntaxProblem('the line is nested too deeply', cursor.pos, 'budget'),
      }
    throw error
  }
}

function readScript(cursor: Cursor, isEnd: (cursor: Cursor) => boolean): Script {
  const commands: ShellNode[] = []
  readCommands(cursor, isEnd, commands)
  return { kind: 'script', commands }
}

function readCommands(cursor: Cursor, isEnd: (cursor: Cursor) => boolean, into: ShellNode[]): void {
  for (;;) {
    skipLines(cursor)
    if (cursor.pos >= cursor.text.length || isEnd(cursor)) return
    const command = readAndOr(cursor)
    skipBlanks(cursor)
    const isBackground = startsWith(cursor, '&') && !startsWith(cursor, '&&')
    into.push(isBackground ? { kind: 'background', command } : command)
    if (isBackground) {
      cursor.pos++
      // `&|` and `&!` of zsh detach the command.
      if (cursor.dialect === 'zsh' && (startsWith(cursor, '|') || startsWith(cursor, '!'))) cursor.pos++
      continue
    }
    if (isEnd(cursor)) return
    if (startsWith(cursor, ';;') || (!skipText(cursor, ';') && !startsWith(cursor, '\n'))) return
  }
}

function readAndOr(cursor: Cursor): ShellNode {
  let left = readPipeline(cursor)
  for (;;) {
    skipBlanks(cursor)
    const kind = skipText(cursor, '&&') ? 'and' : skipText(cursor, '||') ? 'or' : undefined
    if (!kind) return left
    skipLines(cursor)
    left = { kind, left, right: readPipeline(cursor) }
  }
}

function readPipeline(cursor: Cursor): ShellNode {
  let negated = false
  while (skipReserved(cursor, '!')) {
    negated = !negated
    skipBlanks(cursor)
  }
  const commands = [readCommand(cursor)]
  for (;;) {
    skipBlanks(cursor)
    if (startsWith(cursor, '||') || !skipText(cursor, '|')) break
    if (cursor.dialect !== 'sh') skipText(cursor, '&')
    skipLines(cursor)
    commands.push(readCommand(cursor))
  }
  const [only] = commands
  return only && commands.length === 1 && !negated ? only : { kind: 'pipeline', commands, negated }
}

function readCommand(cursor: Cursor): ShellNode {
  skipBlanks(cursor)
  if (cursor.dialect !== 'sh' && peekPlainWord(cursor) === 'coproc') return readCoproc(cursor)
  if (cursor.dialect !== 'sh' && peekPlainWord(cursor) === 'time') skipTime(cursor)
  const compound = readCompound(cursor)
  if (!compound) return readSimple(cursor)
  return withRedirects(cursor, compound)
}

/** A compound command with the redirections behind it. */
function withRedirects(cursor: Cursor, command: ShellNode): ShellNode {
  const redirects: Redirect[] = []
  for (skipBlanks(cursor); ; skipBlanks(cursor)) {
    const redirect = readRedirect(cursor)
    if (!redirect) break
    redirects.push(redirect)
  }
  return redirects.length === 0 ? command : { kind: 'redirected', command, redirects }
}

/** The keyword `time` only measures, so the tree leaves it out. */
function skipTime(cursor: Cursor): void {
  skipReserved(cursor, 'time')
  skipBlanks(cursor)
  if (skipReserved(cursor, '-p')) skipBlanks(cursor)
  if (skipReserved(cursor, '--')) skipBlanks(cursor)
}

function readCoproc(cursor: Cursor): ShellNode {
  skipReserved(cursor, 'coproc')
  skipBlanks(cursor)
  const start = cursor.pos
  const name = peekPlainWord(cursor)
  if (/^[A-Za-z_]\w*$/.test(name)) {
    cursor.pos += name.length
    skipBlanks(cursor)
    if (!readsCompound(cursor)) cursor.pos = start
  }
  return { kind: 'coproc', command: readCommand(cursor) }
}

/** Commands whose assignments are arguments. */
export const declarations = new Set(['declare', 'typeset', 'local', 'export', 'readonly'])

function readSimple(cursor: Cursor): ShellNode {
  countOne(cursor, 'commands')
  const at = cursor.pos
  const assignments: Assignment[] = []
  const words: Word[] = []
  const redirects: Redirect[] = []
  const declares = declarations.has(peekPlainWord(cursor))
  let restAt = at
  for (skipBlanks(cursor); ; skipBlanks(cursor)) {
    const redirect = readRedirect(cursor)
    if (redirect) {
      redirects.push(redirect)
      continue
    }
    const assignment = words.length === 0 || declares ? readAssignment(cursor, words.length > 0) : undefined
    if (assignment) {
      assignments.push(assignment)
      continue
    }
    const word = readWord(cursor)
    if (!word) break
    words.push(word)
    if (words.length === 1) restAt = cursor.pos
    const name = words.length === 1 && assignments.length === 0 ? functionName(cursor, word) : undefined
    if (name !== undefined) return { kind: 'function', name, body: readShortFunction(cursor) }
  }
  if (words.length + assignments.length + redirects.length === 0)
    failSyntax(
      cursor,
      cursor.pos < cursor.text.length
        ? `${cursor.text[cursor.pos]} is not expected here`
        : 'a command is missing',
    )
  return { kind: 'simple', assignments, words, redirects, at, rest: cursor.text.slice(restAt, cursor.pos) }
}

const emptyParentheses = /[ \t]*\([ \t]*\)/y

/** Skips `()` after the name of a function and returns the name. */
function functionName(cursor: Cursor, { parts }: Word): string | undefined {
  const [part] = parts
  emptyParentheses.lastIndex = cursor.pos
  if (parts.length !== 1 || part?.kind !== 'text' || part.quoted || !emptyParentheses.test(cursor.text))
    return undefined
  cursor.pos = emptyParentheses.lastIndex
  return part.text
}

/** bash wants a compound command here; dash and zsh accept a simple one. */
function readShortFunction(cursor: Cursor): ShellNode {
  skipLines(cursor)
  return cursor.dialect !== 'bash' && !readsCompound(cursor)
    ? readCommand(cursor)
    : withRedirects(cursor, readFunctionBody(cursor))
}

function readsCompound(cursor: Cursor): boolean {
  return /^(\(|\{|if|while|until|for|select|case|\[\[)$/.test(peekPlainWord(cursor))
}

const assignmentStart = /([A-Za-z_]\w*)(\[[^\]\n]*\])?(\+?)=/y

function readAssignment(cursor: Cursor, arrayOnly: boolean): Assignment | undefined {
  assignmentStart.lastIndex = cursor.pos
  const found = assignmentStart.exec(cursor.text)
  if (!found) return undefined
  const [whole, name = '', subscriptText, plus] = found
  const isArray = cursor.text[cursor.pos + whole.length] === '(' && cursor.dialect !== 'sh'
  if (arrayOnly && !isArray) return undefined
  const start = cursor.pos
  cursor.pos += name.length
  const subscript =
    subscriptText !== undefined && skipText(cursor, '[')
      ? { subscript: readEnclosed(cursor, ']', false) }
      : {}
  cursor.pos = Math.max(cursor.pos, start + whole.length)
  const head = { name, append: plus === '+', ...subscript }
  if (isArray) return { ...head, value: readArray(cursor) }
  const at = cursor.pos
  const value =
    isWordEnd(cursor.text[at]) && !/[<>]\(/y.test(cursor.text.slice(at, at + 2))
      ? undefined
      : readWord(cursor)
  return { ...head, value: value ?? { parts: [], at } }
}

function readArray(cursor: Cursor): Word[] {
  cursor.pos++
  const words: Word[] = []
  for (skipLines(cursor); !skipText(cursor, ')'); skipLines(cursor)) {
    const word = readWord(cursor)
    if (!word) failSyntax(cursor, 'an array is not closed')
    words.push(word)
  }
  return words
}
