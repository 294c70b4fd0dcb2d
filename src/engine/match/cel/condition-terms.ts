import type { CelValue } from '@bufbuild/cel'
import { errorText } from '../../core/errors/error.ts'
import { definedFields } from '../../core/values/defined-fields.ts'
import type { MatchInput } from '../match-part.ts'
import { compileCondition } from './condition.ts'
import { celEnvironment } from './environment.ts'
import { type Expr, loadCel } from './load-cel.ts'
import { runMetered } from './meter.ts'
import { celLiteral, matchLengthAt, parseExpression } from './parse.ts'
import { checkTypes } from './type-check.ts'
import { bindVariables } from './variables.ts'

/** One term of an `if_expr`, evaluated on one event. */
export interface ConditionTerm {
  /** The operator before the term; the first term has none. */
  readonly join?: 'and' | 'or'
  /** As its author wrote it. */
  readonly source: string
  readonly holds: boolean | 'failed'
  /** What the event has where the term looks: of `size(prompt) > 80` the size. Absent if the term says it already. */
  readonly value?: string
  /** Why the term cannot be evaluated. */
  readonly problem?: string
}

/** Evaluates each term of a condition by itself. Only explanations need that, so a dispatch never loads this file. */
export function evaluateTerms(source: string, input: MatchInput): readonly ConditionTerm[] {
  return splitTerms(source).map(({ join, text }) => ({
    ...definedFields({ join }),
    source: text,
    ...evaluateTerm(text, input),
  }))
}

/** Splits at each `&&` and `||` outside of brackets. A conditional (`a ? b : c`) binds weaker, so it stays whole. */
function splitTerms(source: string): readonly { join: ConditionTerm['join']; text: string }[] {
  const terms: ReturnType<typeof splitTerms>[number][] = []
  let join: ConditionTerm['join']
  let nesting = 0
  let start = 0
  for (let index = 0; index < source.length; ) {
    const skipped = matchLengthAt(celLiteral, source, index)
    const character = source.charAt(index)
    const pair = source.slice(index, index + 2)
    if (skipped === 0 && '([{'.includes(character)) nesting++
    if (skipped === 0 && ')]}'.includes(character)) nesting--
    if (skipped === 0 && nesting === 0 && character === '?') return [{ join: undefined, text: source.trim() }]
    if (skipped === 0 && nesting === 0 && (pair === '&&' || pair === '||')) {
      terms.push({ join, text: source.slice(start, index).trim() })
      join = pair === '&&' ? 'and' : 'or'
      start = index + 2
    }
    index += skipped || (start > index ? 2 : 1)
  }
  return [...terms, { join, text: source.slice(start).trim() }]
}

/** A position counts from the start of the term, so a problem names none. */
function evaluateTerm(source: string, input: MatchInput): Pick<ConditionTerm, 'holds' | 'value' | 'problem'> {
  try {
    const holds = compileCondition(source).holds(input)
    const value = readSubject(source, holds, input)
    return value === undefined ? { holds } : { holds, value }
  } catch (error) {
    return { holds: 'failed', problem: errorText(error).replace(/^if_expr (?:failed )?at [\d:]+: /, '') }
  }
}

/** The value of what the term looks at. */
function readSubject(source: string, holds: boolean, input: MatchInput): string | undefined {
  const { expr, positions } = parseExpression(source)
  const subject = findSubject(expr, holds)
  if (subject === undefined) return undefined
  const { cel } = loadCel()
  const { variables, comprehensionSize } = checkTypes(expr, positions)
  const run = cel.plan(celEnvironment(), subject)
  const { value } = runMetered(comprehensionSize, () => run(bindVariables(cel, variables, input)))
  return cel.isCelError(value) ? undefined : formatCelValue(value)
}

const comparisons = new Set(['_==_', '_!=_', '_<_', '_<=_', '_>_', '_>=_', '@in'])

/** The compared side of a comparison, or the receiver of a method. */
function findSubject({ exprKind }: Expr, holds: boolean): Expr | undefined {
  if (exprKind.case !== 'callExpr') return undefined
  const { function: name, target, args } = exprKind.value
  const [left, right] = args
  if (name === '!_') return left === undefined ? undefined : findSubject(left, !holds)
  if (!comparisons.has(name)) return target
  // The term itself shows the value: it equals the other side.
  if ((name === '_==_' && holds) || (name === '_!=_' && !holds)) return undefined
  return left !== undefined && isConstant(left) ? right : left
}

function isConstant({ exprKind }: Expr): boolean {
  if (exprKind.case === 'listExpr') return exprKind.value.elements.every(isConstant)
  return exprKind.case === 'constExpr'
}

function formatCelValue(value: CelValue): string | undefined {
  const { isCelList, isCelMap } = loadCel().cel
  if (typeof value === 'string') return JSON.stringify(value)
  if (isCelList(value)) return `a list of ${value.size}`
  if (isCelMap(value)) return `a map of ${value.size}`
  return value === null || typeof value !== 'object' ? String(value) : undefined
}
