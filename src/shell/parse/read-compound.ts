import {
  type Cursor,
  failSyntax,
  peekPlainWord,
  readNested,
  skipBlanks,
  skipReserved,
  skipText,
  startsWith,
} from './cursor.ts'
import { readHeredocs } from './read-redirect.ts'
import { readWord, tryArithmetic } from './read-word.ts'
import type { CaseClause, Script, ShellNode, Word } from './shell-syntax.ts'

/** Skips blanks, comments and newlines, and reads the heredocs that start after a newline. */
export function skipLines(cursor: Cursor): void {
  for (;;) {
    skipBlanks(cursor)
    if (!skipText(cursor, '\n')) return
    readHeredocs(cursor)
  }
}

/** Reads a compound command; undefined if none starts here. */
export function readCompound(cursor: Cursor): ShellNode | undefined {
  const word = peekPlainWord(cursor)
  const read = word === '' ? undefined : compounds.get(word)
  return read && readNested(cursor, read)
}

const compounds = new Map<string, (cursor: Cursor) => ShellNode | undefined>([
  ['(', readParentheses],
  ['{', (cursor) => ({ kind: 'group', body: readBraces(cursor) })],
  ['if', readIf],
  ['while', (cursor) => readLoop(cursor, 'while')],
  ['until', (cursor) => readLoop(cursor, 'until')],
  ['for', (cursor) => readFor(cursor, 'for')],
  ['select', (cursor) => readFor(cursor, 'select')],
  ['case', readCase],
  ['function', readFunction],
  ['[[', readTest],
])

function until(cursor: Cursor, ...words: readonly string[]): Script {
  const script = cursor.readScript(cursor, (here) => words.includes(peekPlainWord(here)))
  if (script.commands.length === 0) failSyntax(cursor, `a command is missing before ${words.join(' or ')}`)
  return script
}

function expectReserved(cursor: Cursor, word: string): void {
  skipLines(cursor)
  if (!skipReserved(cursor, word)) failSyntax(cursor, `${word} is missing`)
}

function readParentheses(cursor: Cursor): ShellNode {
  if (startsWith(cursor, '((') && cursor.dialect !== 'sh') {
    const expression = tryArithmetic(cursor)
    if (expression) return { kind: 'arithmetic', expression }
  }
  cursor.pos++
  const body = cursor.readScript(cursor, (here) => startsWith(here, ')'))
  if (!skipText(cursor, ')')) failSyntax(cursor, 'a parenthesis is not closed')
  return { kind: 'subshell', body }
}

function readBraces(cursor: Cursor): Script {
  expectReserved(cursor, '{')
  const body = until(cursor, '}')
  expectReserved(cursor, '}')
  return body
}

function readIf(cursor: Cursor): ShellNode {
  cursor.pos += peekPlainWord(cursor).length
  const condition = until(cursor, 'then')
  expectReserved(cursor, 'then')
  const then = until(cursor, 'elif', 'else', 'fi')
  const next = peekPlainWord(cursor)
  if (next === 'elif') return { kind: 'if', condition, then, otherwise: readNested(cursor, readIf) }
  const otherwise = skipReserved(cursor, 'else') ? { otherwise: until(cursor, 'fi') } : {}
  expectReserved(cursor, 'fi')
  return { kind: 'if', condition, then, ...otherwise }
}

function readLoop(cursor: Cursor, word: 'while' | 'until'): ShellNode {
  expectReserved(cursor, word)
  const condition = until(cursor, 'do')
  return { kind: 'while', condition, body: readDoBody(cursor), until: word === 'until' }
}

function readDoBody(cursor: Cursor): Script {
  expectReserved(cursor, 'do')
  const body = until(cursor, 'done')
  expectReserved(cursor, 'done')
  return body
}

function readFor(cursor: Cursor, keyword: string): ShellNode {
  expectReserved(cursor, keyword)
  skipBlanks(cursor)
  if (startsWith(cursor, '((')) {
    const expression = tryArithmetic(cursor)
    if (!expression) failSyntax(cursor, 'the head of a for loop is not closed')
    return { kind: 'arithmetic-for', expression, body: readForBody(cursor) }
  }
  const name = peekPlainWord(cursor)
  if (!/^[A-Za-z_]\w*$/.test(name)) failSyntax(cursor, 'a for loop has no variable')
  cursor.pos += name.length
  skipLines(cursor)
  if (!skipReserved(cursor, 'in')) return { kind: 'for', name, body: readForBody(cursor) }
  const words: Word[] = []
  for (skipBlanks(cursor); ; skipBlanks(cursor)) {
    const word = readWord(cursor)
    if (!word) break
    words.push(word)
  }
  return { kind: 'for', name, words, body: readForBody(cursor) }
}

function readForBody(cursor: Cursor): Script {
  skipBlanks(cursor)
  skipText(cursor, ';')
  skipLines(cursor)
  return peekPlainWord(cursor) === '{' ? readBraces(cursor) : readDoBody(cursor)
}

function readCase(cursor: Cursor): ShellNode {
  expectReserved(cursor, 'case')
  skipBlanks(cursor)
  const subject = readWord(cursor)
  if (!subject) failSyntax(cursor, 'case has no word')
  expectReserved(cursor, 'in')
  const clauses: CaseClause[] = []
  for (skipLines(cursor); !skipReserved(cursor, 'esac'); skipLines(cursor)) clauses.push(readClause(cursor))
  return { kind: 'case', subject, clauses }
}

function readClause(cursor: Cursor): CaseClause {
  skipText(cursor, '(')
  const patterns: Word[] = []
  do {
    skipBlanks(cursor)
    const pattern = readWord(cursor)
    if (!pattern) failSyntax(cursor, 'a pattern of case is missing')
    patterns.push(pattern)
    skipBlanks(cursor)
  } while (skipText(cursor, '|'))
  if (!skipText(cursor, ')')) failSyntax(cursor, 'a pattern of case is not closed')
  const body = cursor.readScript(
    cursor,
    (here) =>
      startsWith(here, ';;') ||
      startsWith(here, ';&') ||
      startsWith(here, ';|') ||
      peekPlainWord(here) === 'esac',
  )
  const end = /;;&|;;|;&|;\|/y
  end.lastIndex = cursor.pos
  cursor.pos += end.exec(cursor.text)?.[0].length ?? 0
  return { patterns, body }
}

function readFunction(cursor: Cursor): ShellNode | undefined {
  // In POSIX sh `function` is an ordinary name.
  if (cursor.dialect === 'sh') return undefined
  expectReserved(cursor, 'function')
  skipBlanks(cursor)
  const found = /[^\s;&|()<>'"$`\\]+/y
  found.lastIndex = cursor.pos
  const name = found.exec(cursor.text)?.[0]
  if (name === undefined) failSyntax(cursor, 'a function has no name')
  cursor.pos += name.length
  skipBlanks(cursor)
  if (skipText(cursor, '(')) {
    skipBlanks(cursor)
    if (!skipText(cursor, ')')) failSyntax(cursor, 'a function has parameters')
  }
  return { kind: 'function', name, body: readFunctionBody(cursor) }
}

/** Reads the command that a function runs. */
export function readFunctionBody(cursor: Cursor): ShellNode {
  skipLines(cursor)
  const body = readCompound(cursor)
  if (!body) failSyntax(cursor, 'the body of a function is no compound command')
  return body
}

/** Reads `[[ … ]]`. Only its substitutions matter, so its operators are skipped. */
function readTest(cursor: Cursor): ShellNode | undefined {
  if (cursor.dialect === 'sh') return undefined
  expectReserved(cursor, '[[')
  const words: Word[] = []
  for (skipLines(cursor); !skipReserved(cursor, ']]'); skipLines(cursor)) {
    const word = readWord(cursor)
    if (word) words.push(word)
    else if (cursor.pos < cursor.text.length && '()<>&|'.includes(cursor.text[cursor.pos] ?? ' '))
      cursor.pos++
    else failSyntax(cursor, ']] is missing')
  }
  return { kind: 'test', words }
}
