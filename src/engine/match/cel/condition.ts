import { HookError } from '../../core/errors/error.ts'
import type { MatchInput, MatchPart } from '../match-part.ts'
import { celEnvironment } from './environment.ts'
import { loadCel } from './load-cel.ts'
import { runMetered } from './meter.ts'
import { parseExpression, tooComplex } from './parse.ts'
import { checkTypes } from './type-check.ts'
import { bindVariables } from './variables.ts'

interface Condition {
  holds(input: MatchInput): boolean
  /** Whether it looks at what a shell line does. */
  readonly readsShell: boolean
}

const MAX_CACHED = 500
const cache = new Map<string, Condition>()

/** `if_expr`: a condition in the Common Expression Language. */
export function conditionPart(source: string): MatchPart {
  const { holds, readsShell } = compileCondition(source)
  if (!readsShell) return { kind: 'if_expr', source, when: holds }
  return {
    kind: 'if_expr',
    source,
    effects: {
      find: (input) => (holds(input) ? '' : undefined),
      hidden: (_input, effects) => effects.shell().opaque,
    },
  }
}

/** Compiles an expression; throws a coded error for a bad one. Hooks with the same expression share the result. */
export function compileCondition(source: string): Condition {
  const cached = cache.get(source)
  if (cached) return cached
  const condition = compile(source)
  const [oldest] = cache.keys()
  if (cache.size >= MAX_CACHED && oldest !== undefined) cache.delete(oldest)
  cache.set(source, condition)
  return condition
}

function compile(source: string): Condition {
  try {
    return plan(source)
  } catch (error) {
    if (error instanceof HookError) throw error
    // All other errors of the parser and the planner are stack overflows.
    throw tooComplex('is too deep to compile', 'if_expr', error)
  }
}

function plan(source: string): Condition {
  const { cel } = loadCel()
  const { expr, positions } = parseExpression(source)
  const { variables, comprehensionSize } = checkTypes(expr, positions)
  const run = cel.plan(celEnvironment(), expr)
  const holds: Condition['holds'] = (input) => {
    const { value, truncated, refused } = withReadErrors(() =>
      runMetered(comprehensionSize, () => run(bindVariables(cel, variables, input))),
    )
    if (cel.isCelError(value))
      throw evaluationError(
        refused ?? withoutPayload(value.message),
        value.exprId ? positions.of(value.exprId) : undefined,
      )
    if (typeof value !== 'boolean')
      throw evaluationError('the result is neither true nor false', positions.of(expr.id))
    // Padding must not get a call past a gate: the part that was cut off might have made the condition true.
    if (!value && truncated)
      throw evaluationError('a text or list was cut at its limit, so false is not certain')
    return value
  }
  return { holds, readsShell: variables.has('shell') }
}

/** The library returns errors as values. Only reading the payload can throw. */
function withReadErrors<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw evaluationError(error instanceof HookError ? error.message : 'the payload cannot be read')
  }
}

/** Replaces the messages of the library that may quote values of the payload. */
function withoutPayload(message: string): string {
  if (/^(?:found no matching overload|type mismatch|unsupported key type)/.test(message)) return message
  if (/not found|unresolved/.test(message)) return 'a key is missing'
  if (message.includes('out of bounds')) return 'an index is out of bounds'
  if (message.includes('by zero')) return 'a division by zero'
  return message.includes('overflow') ? 'a number is too large' : 'a function cannot handle its input'
}

function evaluationError(why: string, position?: string): HookError {
  const [where, at] = position === undefined ? ['', 'if_expr'] : [` at ${position}`, `if_expr:${position}`]
  const hint = 'See the value in the trace; test large or unusual input in the handler.'
  const message = `if_expr failed${where}: ${why}`
  return new HookError('match.cel_eval', message, why === 'a key is missing' ? { at } : { at, hint })
}
