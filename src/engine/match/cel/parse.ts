import { errorText, HookError } from '../../core/errors/error.ts'
import { type Expr, loadCel, type SourceInfo } from './load-cel.ts'

const MAX_LENGTH = 2_048
const MAX_NESTING = 32
const MAX_OPERATORS = 256

// Strings and comments, terminated or not. In a raw string the backslash escapes nothing.
export const celLiteral = new RegExp(
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

/** Finds the position of a node in the source. */
export type ExpressionPositions = ReturnType<typeof positionsIn>

/** Parses an expression; throws a coded error with line and column. */
export function parseExpression(source: string) {
  assertWithinCelLimits(source)
  try {
    const { expr, sourceInfo } = loadCel().cel.parse(source)
    return { expr, positions: positionsIn(source, sourceInfo) }
  } catch (error) {
    if (error instanceof RangeError) throw error
    const position = positionAt(source, offsetOf(error))
    const why = errorText(error).replace(/^<input>:\d+:\d+: /, '')
    throw new HookError('match.cel_syntax', `if_expr at ${position}: ${why}`, {
      at: `if_expr:${position}`,
      cause: error,
    })
  }
}

function offsetOf(error: unknown): number {
  const location: unknown = error instanceof Error && 'location' in error ? error.location : undefined
  const start: unknown =
    typeof location === 'object' && location && 'start' in location ? location.start : undefined
  return typeof start === 'object' && start && 'offset' in start ? Number(start.offset) : 0
}

/** Line and column, both from 1, as editors count. */
function positionAt(source: string, offset: number): string {
  const before = source.slice(0, offset).split('\n')
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
}

function positionsIn(source: string, info: SourceInfo) {
  /** `line:column` of a node. */
  const of = (id: bigint): string => positionAt(source, info?.positions[id.toString()] ?? 0)
  return {
    of,
    typeError(node: Expr, why: string, hint?: string): HookError {
      const position = of(node.id)
      const at = `if_expr:${position}`
      const options = hint === undefined ? { at } : { at, hint }
      return new HookError('match.cel_type', `if_expr at ${position}: ${why}`, options)
    },
  }
}

/**
 * Limits an expression before parsing, because the parser is recursive and has no limits. The counts may be wrong for a
 * text that is not CEL, which the parser refuses anyway.
 */
function assertWithinCelLimits(source: string): void {
  if (source.length > MAX_LENGTH)
    throw tooComplex(`has ${source.length} characters, the limit is ${MAX_LENGTH}`)
  let nesting = 0
  let operators = 0
  let prefixes = 0
  for (let index = 0; index < source.length; ) {
    const skipped = matchLengthAt(celLiteral, source, index)
    const found = skipped > 0 ? 0 : matchLengthAt(operator, source, index)
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

/** The error of an expression that exceeds a limit. */
export function tooComplex(why: string, at = 'if_expr', cause?: unknown): HookError {
  return new HookError('match.too_complex', `if_expr ${why}`, { at, cause })
}

/** How many characters a sticky pattern matches at an index; 0 if it does not match there. */
export function matchLengthAt(pattern: RegExp, source: string, index: number): number {
  pattern.lastIndex = index
  return pattern.exec(source)?.[0].length ?? 0
}
