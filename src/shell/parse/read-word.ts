import { decodeAnsiC } from './ansi-c-string.ts'
import {
  type Cursor,
  countOne,
  failSyntax,
  isWordEnd,
  readNested,
  skipContinuations,
  skipText,
  startsWith,
  UNKNOWN_CHARACTER,
} from './cursor.ts'
import type { Parameter, Word, WordPart } from './shell-syntax.ts'

/** Where a run of word parts ends, and how quotes act in it. */
interface PartRules {
  readonly isEnd: (cursor: Cursor) => boolean
  readonly quoted: boolean
  /** Whether single quotes quote. */
  readonly singleQuotes: boolean
  /** Whether double quotes quote; they are plain text in a heredoc. */
  readonly doubleQuotes: boolean
  /** Whether the end of the text may end the run. */
  readonly mayEnd: boolean
  /** Whether `<(…)` and `@(…)` have their meaning. */
  readonly isWord: boolean
}

const wordRules: PartRules = {
  isEnd: ({ text, pos }) =>
    isWordEnd(text[pos]) && !((text[pos] === '<' || text[pos] === '>') && text[pos + 1] === '('),
  quoted: false,
  singleQuotes: true,
  doubleQuotes: true,
  mayEnd: true,
  isWord: true,
}

/** POSIX sh has no process substitution, so `<` always ends a word. */
const posixWordRules: PartRules = {
  ...wordRules,
  isEnd: ({ text, pos }) => isWordEnd(text[pos]),
  isWord: false,
}

/** Reads one word; undefined if none starts here. */
export function readWord(cursor: Cursor): Word | undefined {
  const at = cursor.pos
  const rules = cursor.dialect === 'sh' ? posixWordRules : wordRules
  if (at >= cursor.text.length || rules.isEnd(cursor)) return undefined
  countOne(cursor, 'words')
  return { parts: readParts(cursor, rules), at }
}

/** Reads the body of a heredoc, or code that double quotes would surround, as one word. */
export function readQuotedText(cursor: Cursor): Word {
  const at = cursor.pos
  const rules = {
    ...wordRules,
    isEnd: () => false,
    quoted: true,
    singleQuotes: false,
    doubleQuotes: false,
    isWord: false,
  }
  return { parts: readParts(cursor, rules), at }
}

/** Reads up to a closing text, and skips it. */
export function readEnclosed(cursor: Cursor, close: string, quoted = true): Word {
  const at = cursor.pos
  const parts = readParts(cursor, {
    isEnd: (here) => startsWith(here, close),
    quoted,
    singleQuotes: !quoted,
    doubleQuotes: true,
    mayEnd: false,
    isWord: false,
  })
  cursor.pos += close.length
  return { parts, at }
}

/** Characters that mean themselves wherever they are. */
const plainRun = /[\w.-]+/y

function readParts(cursor: Cursor, rules: PartRules): WordPart[] {
  const parts: WordPart[] = []
  let plain = ''
  const flush = () => {
    if (plain !== '') parts.push({ kind: 'text', text: plain, quoted: rules.quoted })
    plain = ''
  }
  while (cursor.pos < cursor.text.length) {
    if (rules.isEnd(cursor)) {
      flush()
      return parts
    }
    plainRun.lastIndex = cursor.pos
    if (plainRun.test(cursor.text)) {
      plain += cursor.text.slice(cursor.pos, plainRun.lastIndex)
      cursor.pos = plainRun.lastIndex
      continue
    }
    const char = cursor.text[cursor.pos] ?? ''
    if (!isSpecial(char, rules, cursor)) {
      plain += char
      cursor.pos++
      continue
    }
    const start = cursor.pos
    const part = readSpecial(cursor, char, rules)
    if (part === undefined) {
      if (cursor.pos === start) {
        plain += char
        cursor.pos++
      }
      continue
    }
    flush()
    parts.push(...part)
  }
  if (!rules.mayEnd) failSyntax(cursor, 'a quote or bracket is not closed')
  flush()
  return parts
}

function isSpecial(char: string, { isWord }: PartRules, { text, pos }: Cursor): boolean {
  if (char === '\\' || char === '$' || char === '`' || char === "'" || char === '"') return true
  if (char === UNKNOWN_CHARACTER) return true
  if (!isWord || text[pos + 1] !== '(') return false
  return '<>@!?*+'.includes(char)
}

/** The parts that start here; undefined if the character is plain text, or if it was skipped. */
function readSpecial(cursor: Cursor, char: string, rules: PartRules): WordPart[] | undefined {
  const { quoted } = rules
  if (char === '\\') return readEscape(cursor, rules)
  if (char === "'") return rules.singleQuotes ? [readSingleQuotes(cursor)] : undefined
  if (char === '"') return rules.doubleQuotes ? readDoubleQuotes(cursor) : undefined
  if (char === '$') return readNested(cursor, () => readDollar(cursor, quoted))
  if (char === '`') return readNested(cursor, () => [readBackticks(cursor, quoted)])
  if (char === UNKNOWN_CHARACTER) {
    cursor.pos++
    return [{ kind: 'unknown', quoted, source: '…' }]
  }
  if (char === '<' || char === '>') return readNested(cursor, () => [readProcess(cursor, char === '>')])
  return readNested(cursor, () => [readGroupPattern(cursor)])
}

function readEscape(cursor: Cursor, { quoted, doubleQuotes }: PartRules): WordPart[] | undefined {
  const next = cursor.text[cursor.pos + 1]
  if (next === '\n') {
    cursor.pos += 2
    return undefined
  }
  if (next === undefined) return undefined
  if (quoted && !'$`\\'.includes(next) && !(next === '"' && doubleQuotes)) return undefined
  cursor.pos += 2
  return [{ kind: 'text', text: next, quoted: true }]
}

function readSingleQuotes(cursor: Cursor): WordPart {
  const end = cursor.text.indexOf("'", cursor.pos + 1)
  if (end === -1) failSyntax(cursor, 'a single quote is not closed')
  const text = cursor.text.slice(cursor.pos + 1, end)
  cursor.pos = end + 1
  // An unknown value inside quotes could contain the quote that ends them.
  return text.includes(UNKNOWN_CHARACTER)
    ? { kind: 'unknown', quoted: true, source: text.replaceAll(UNKNOWN_CHARACTER, '…') }
    : { kind: 'text', text, quoted: true }
}

function readDoubleQuotes(cursor: Cursor): WordPart[] {
  cursor.pos++
  return readNested(cursor, () => {
    const { parts } = readEnclosed(cursor, '"')
    // An empty pair of quotes still makes an argument.
    return parts.length > 0 ? [...parts] : [{ kind: 'text', text: '', quoted: true }]
  })
}

function readDollar(cursor: Cursor, quoted: boolean): WordPart[] | undefined {
  const start = cursor.pos
  cursor.pos++
  skipContinuations(cursor)
  const next = cursor.text[cursor.pos] ?? ''
  const isPosix = cursor.dialect === 'sh'
  if (next === "'" && !quoted && !isPosix) return [readAnsiC(cursor)]
  if (next === '"' && !quoted && cursor.dialect === 'bash') return readDoubleQuotes(cursor)
  if (next === '(') return [readParenthesis(cursor, quoted, start)]
  if (next === '[' && !isPosix) {
    cursor.pos++
    const expression = readEnclosed(cursor, ']')
    return [{ kind: 'arithmetic', expression, quoted, source: cursor.text.slice(start, cursor.pos) }]
  }
  if (next === '{') {
    cursor.pos++
    const parameter = readParameter(cursor, quoted)
    return [{ kind: 'parameter', parameter, quoted, source: cursor.text.slice(start, cursor.pos) }]
  }
  const name = readName(cursor) ?? readSpecialName(cursor)
  if (name === undefined) {
    cursor.pos = start
    return undefined
  }
  const parameter = cursor.dialect === 'zsh' ? withZshSuffix(cursor, name) : { name }
  return [{ kind: 'parameter', parameter, quoted, source: cursor.text.slice(start, cursor.pos) }]
}

/** In zsh `$x[1]` and `$x:t` are one expansion, which this analyser does not compute. */
function withZshSuffix(cursor: Cursor, name: string): Parameter {
  return /^(\[|:[a-zA-Z])/.test(cursor.text.slice(cursor.pos, cursor.pos + 2))
    ? { name, operator: 'zsh' }
    : { name }
}

/** Reads `$(…)`, or `$((…))` if the parentheses close together. */
function readParenthesis(cursor: Cursor, quoted: boolean, start: number): WordPart {
  if (startsWith(cursor, '((')) {
    const expression = tryArithmetic(cursor)
    if (expression)
      return { kind: 'arithmetic', expression, quoted, source: cursor.text.slice(start, cursor.pos) }
  }
  cursor.pos++
  const script = readScriptInParentheses(cursor)
  return { kind: 'substitution', script, quoted, source: cursor.text.slice(start, cursor.pos) }
}

/** Reads `((…))`; undefined, and nothing read, if the two parentheses do not close together. */
export function tryArithmetic(cursor: Cursor): Word | undefined {
  const end = findArithmeticEnd(cursor.text, cursor.pos + 2)
  if (end === undefined) return undefined
  const inside: Cursor = { ...cursor, text: cursor.text.slice(0, end), pos: cursor.pos + 2, pending: [] }
  const word = readQuotedText(inside)
  cursor.pos = end + 2
  return word
}

function findArithmeticEnd(text: string, start: number): number | undefined {
  let open = 0
  const end = Math.min(text.length, start + 4_000)
  for (let pos = start; pos < end; pos++) {
    const char = text[pos]
    if (char === '\\') pos++
    else if (char === "'" || char === '"') {
      const close = text.indexOf(char, pos + 1)
      if (close === -1) return undefined
      pos = close
    } else if (char === '(') open++
    else if (char === ')' && open-- === 0) return text[pos + 1] === ')' ? pos : undefined
  }
  return undefined
}

function readScriptInParentheses(cursor: Cursor) {
  const { pending } = cursor
  cursor.pending = []
  const script = cursor.readScript(cursor, (here) => startsWith(here, ')'))
  cursor.pending = pending
  if (!skipText(cursor, ')')) failSyntax(cursor, 'a parenthesis is not closed')
  return script
}

const ansiCString = /'((?:[^'\\]|\\[\s\S])*)'/y

function readAnsiC(cursor: Cursor): WordPart {
  ansiCString.lastIndex = cursor.pos
  const found = ansiCString.exec(cursor.text)
  if (!found) failSyntax(cursor, "a string that starts with $' is not closed")
  cursor.pos = ansiCString.lastIndex
  const source = found[1] ?? ''
  const text = source.includes(UNKNOWN_CHARACTER) ? undefined : decodeAnsiC(source)
  return text === undefined
    ? { kind: 'unknown', quoted: true, source: `$'${source}'` }
    : { kind: 'text', text, quoted: true }
}

function readBackticks(cursor: Cursor, quoted: boolean): WordPart {
  const start = cursor.pos
  let code = ''
  for (cursor.pos++; ; cursor.pos++) {
    const char = cursor.text[cursor.pos]
    if (char === undefined) failSyntax(cursor, 'a backtick is not closed')
    if (char === '`') break
    const next = cursor.text[cursor.pos + 1]
    if (char === '\\' && next !== undefined && ('$`\\'.includes(next) || (quoted && next === '"'))) {
      code += next
      cursor.pos++
    } else code += char
  }
  cursor.pos++
  const inside: Cursor = { ...cursor, text: code, pos: 0, pending: [] }
  const script = cursor.readScript(inside, () => false)
  return { kind: 'substitution', script, quoted, source: cursor.text.slice(start, cursor.pos) }
}

function readProcess(cursor: Cursor, output: boolean): WordPart {
  const start = cursor.pos
  cursor.pos += 2
  const script = readScriptInParentheses(cursor)
  return { kind: 'process', script, output, source: cursor.text.slice(start, cursor.pos) }
}

function readGroupPattern(cursor: Cursor): WordPart {
  const start = cursor.pos
  cursor.pos += 2
  const inside = readEnclosed(cursor, ')', false)
  return { kind: 'group-pattern', inside, source: cursor.text.slice(start, cursor.pos) }
}

const namePattern = /[A-Za-z_]\w*/y

function readName(cursor: Cursor): string | undefined {
  namePattern.lastIndex = cursor.pos
  const found = namePattern.exec(cursor.text)?.[0]
  if (found !== undefined) cursor.pos += found.length
  return found
}

/** `$1`, `$@`, `$?` and the like. */
function readSpecialName(cursor: Cursor): string | undefined {
  const char = cursor.text[cursor.pos]
  if (char === undefined || !'0123456789@*#?$!-'.includes(char)) return undefined
  cursor.pos++
  return char
}

const operators = /:?[-=?+]|##?|%%?|\/\/|\/[#%]?|\^\^?|,,?|@|:|~~?|(?=\})/y

const prefixSign = /[!#](?=[\w@*?$!#-])/y
const digits = /\d+/y

/** Reads after `${`. */
function readParameter(cursor: Cursor, quoted: boolean): Parameter {
  const start = cursor.pos
  prefixSign.lastIndex = start
  const sign = prefixSign.exec(cursor.text)?.[0]
  if (sign !== undefined) cursor.pos++
  digits.lastIndex = cursor.pos
  const number = digits.exec(cursor.text)?.[0]
  if (number !== undefined) cursor.pos += number.length
  const name = number ?? readName(cursor) ?? readSpecialName(cursor)
  // `${(flags)name}` of zsh, `${$(…)}`, or nonsense: the substitutions inside still run.
  if (name === undefined) return { name: '', operator: 'other', operand: readEnclosed(cursor, '}', quoted) }
  const subscript = skipText(cursor, '[') ? { subscript: readEnclosed(cursor, ']', false) } : {}
  operators.lastIndex = cursor.pos
  const operator = operators.exec(cursor.text)?.[0] ?? 'other'
  if (operator !== 'other') cursor.pos += operator.length
  const isPattern = /^[#%/^,]/.test(operator)
  const operand = readEnclosed(cursor, '}', quoted && !isPattern)
  const shape = { name, ...subscript, ...(sign === '!' ? { indirect: true as const } : {}) }
  if (sign === '#') return { ...shape, length: true }
  return operator === '' ? shape : { ...shape, operator, operand }
}
