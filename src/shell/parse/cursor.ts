import type { ShellDialect } from '../../engine/core/shell-effects.ts'
import type { Redirect, Script } from './shell-syntax.ts'

/** The grammar does not accept the text, or the text is nested too deeply. */
export class ShellSyntaxProblem extends Error {
  readonly reason: 'syntax' | 'budget'
  readonly at: number

  constructor(message: string, at: number, reason: 'syntax' | 'budget' = 'syntax') {
    super(message)
    this.reason = reason
    this.at = at
  }
}

/** A position in the text, and what the reader must remember. */
export interface Cursor {
  readonly text: string
  pos: number
  depth: number
  /** How many words and commands were read. */
  words: number
  commands: number
  readonly dialect: ShellDialect
  /** Heredocs whose bodies start after the next newline. */
  pending: Redirect[]
  /** Reads commands until `isEnd` or the end of the text. Here because words and commands contain one another. */
  readonly readScript: (cursor: Cursor, isEnd: (cursor: Cursor) => boolean) => Script
}

/** Stands in code for a value that was unknown when the code was put together. */
export const UNKNOWN_CHARACTER = '\uE000'

const MAX_DEPTH = 100
/** The analysis of more commands would end at its own limit, after all of them were read. */
const limits = { commands: 4_000, words: 10_000 }

export function countOne(cursor: Cursor, kind: 'commands' | 'words'): void {
  if (++cursor[kind] > limits[kind])
    throw new ShellSyntaxProblem(`the line has more than ${limits[kind]} ${kind}`, cursor.pos, 'budget')
}

/** Runs a reader one level deeper. */
export function readNested<T>(cursor: Cursor, read: (cursor: Cursor) => T): T {
  if (++cursor.depth > MAX_DEPTH)
    throw new ShellSyntaxProblem('the line is nested too deeply', cursor.pos, 'budget')
  const result = read(cursor)
  cursor.depth--
  return result
}

export function failSyntax(cursor: Cursor, expected: string): never {
  throw new ShellSyntaxProblem(expected, cursor.pos)
}

export function startsWith(cursor: Cursor, text: string): boolean {
  return cursor.text.startsWith(text, cursor.pos)
}

/** Skips the text if it comes next. */
export function skipText(cursor: Cursor, text: string): boolean {
  if (!startsWith(cursor, text)) return false
  cursor.pos += text.length
  return true
}

/** The shell removes a backslash before a newline wherever nothing is quoted. */
export function skipContinuations(cursor: Cursor): void {
  while (skipText(cursor, '\\\n'));
}

/** Skips spaces, tabs, line continuations and a comment. */
export function skipBlanks(cursor: Cursor): void {
  for (;;) {
    const char = cursor.text[cursor.pos]
    if (char === ' ' || char === '\t') cursor.pos++
    else if (char === '\\' && cursor.text[cursor.pos + 1] === '\n') cursor.pos += 2
    else if (char === '#') {
      const end = cursor.text.indexOf('\n', cursor.pos)
      cursor.pos = end === -1 ? cursor.text.length : end
    } else return
  }
}

const metacharacters = new Set([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>'])

/** Whether an unquoted word ends here. */
export function isWordEnd(char: string | undefined): boolean {
  return char === undefined || metacharacters.has(char)
}

const plainWord = /[^\s;&|()<>'"$`\\]{1,200}/y

/** The unquoted word that starts here, without reading it; reserved words are recognised this way. */
export function peekPlainWord({ text, pos }: Cursor): string {
  if (text.charCodeAt(pos) === 40) return '('
  // No reserved word is longer.
  plainWord.lastIndex = pos
  const found = plainWord.exec(text)?.[0] ?? ''
  const after = text[pos + found.length]
  return isWordEnd(after) ? found : ''
}

/** Skips a reserved word if it comes next. */
export function skipReserved(cursor: Cursor, word: string): boolean {
  if (peekPlainWord(cursor) !== word) return false
  cursor.pos += word.length
  return true
}
