import { HookError } from '../../core/error.ts'

const MAX_LENGTH = 2_048
const MAX_NESTING = 32
const MAX_OPERATORS = 256

// Texts and comments, closed or not; in a raw text the backslash escapes nothing.
const literal = new RegExp(
  [
    /[bB]?[rR][bB]?(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"[^"\n]*"?|'[^'\n]*'?)/,
    /[bB]?(?:"""(?:\\[\s\S]|[^\\])*?(?:"""|$)|'''(?:\\[\s\S]|[^\\])*?(?:'''|$))/,
    /[bB]?(?:"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)/,
    /\/\/[^\n]*/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'y',
)
const operator = /&&|\|\||[=!<>]=|[-+*/%<>!?.]|\bin\b/y

/**
 * Bounds an expression before the parser, which is recursive and has no limits of its own, sees it. Counting may be
 * off where the text is no CEL at all; the parser refuses that anyway.
 */
export function refuseMonsters(source: string): void {
  if (source.length > MAX_LENGTH)
    throw tooComplex(`has ${source.length} characters, the limit is ${MAX_LENGTH}`)
  let nesting = 0
  let operators = 0
  let prefixes = 0
  for (let index = 0; index < source.length; ) {
    const skipped = lengthAt(literal, source, index)
    const found = skipped > 0 ? 0 : lengthAt(operator, source, index)
    const character = source.charAt(index)
    if ('([{'.includes(character)) nesting++
    if (')]}'.includes(character)) nesting--
    if (found > 0) operators++
    if (character === '!' || character === '-') prefixes++
    else if (character.trim() !== '') prefixes = 0
    if (Math.max(nesting, prefixes) > MAX_NESTING) throw tooComplex(`is nested deeper than ${MAX_NESTING}`)
    if (operators > MAX_OPERATORS) throw tooComplex(`has more than ${MAX_OPERATORS} operators`)
    index += skipped || found || 1
  }
}

export function tooComplex(why: string, at = 'if_expr', cause?: unknown): HookError {
  return new HookError('match.too_complex', `if_expr ${why}`, { at, cause })
}

function lengthAt(pattern: RegExp, source: string, index: number): number {
  pattern.lastIndex = index
  return pattern.exec(source)?.[0].length ?? 0
}
