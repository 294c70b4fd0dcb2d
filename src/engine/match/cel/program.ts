import { errorText, HookError } from '../../core/error.ts'
import type { MatchInput } from '../matcher.ts'
import { checkCondition } from './check.ts'
import { celEnvironment } from './functions.ts'
import { loadCel } from './load.ts'
import { metered } from './meter.ts'
import { placeAt, placesIn } from './place.ts'
import { refuseMonsters, tooComplex } from './scan.ts'
import { bind } from './variables.ts'

type Program = (input: MatchInput) => boolean

const MAX_PROGRAMS = 500
const programs = new Map<string, Program>()

/** Hooks that share a condition share its program. */
export function compileProgram(source: string): Program {
  const known = programs.get(source)
  if (known) return known
  const program = compile(source)
  const [oldest] = programs.keys()
  if (programs.size >= MAX_PROGRAMS && oldest !== undefined) programs.delete(oldest)
  programs.set(source, program)
  return program
}

function compile(source: string): Program {
  refuseMonsters(source)
  try {
    return plan(source)
  } catch (error) {
    if (error instanceof HookError) throw error
    // Whatever else the parser or the planner throws is a stack that ran out.
    throw tooComplex('is too deep to compile', 'if_expr', error)
  }
}

function plan(source: string): Program {
  const { cel } = loadCel()
  const { expr, sourceInfo } = parse(source)
  const places = placesIn(source, sourceInfo)
  const { variables, foldSize } = checkCondition(expr, places)
  const run = cel.plan(celEnvironment(), expr)
  return (input) => {
    const { value, cut, refused } = readable(() => metered(foldSize, () => run(bind(cel, variables, input))))
    if (cel.isCelError(value))
      throw failed(refused ?? describe(value.message), value.exprId ? places.of(value.exprId) : undefined)
    if (typeof value !== 'boolean') throw failed('the answer is neither true nor false', places.of(expr.id))
    // Padding must not carry a call past a gate: what was cut off might have made it true.
    if (!value && cut) throw failed('a text or list was cut at its limit, so false is not certain')
    return value
  }
}

function parse(source: string) {
  try {
    return loadCel().cel.parse(source)
  } catch (error) {
    if (error instanceof RangeError) throw error
    const place = placeAt(source, offsetOf(error))
    const why = errorText(error).replace(/^<input>:\d+:\d+: /, '')
    throw new HookError('match.cel_syntax', `if_expr at ${place}: ${why}`, {
      at: `if_expr:${place}`,
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

/** The library answers errors as values; only what is read before it starts can throw. */
function readable<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw failed(error instanceof HookError ? error.message : 'the payload cannot be read')
  }
}

/** The library quotes values in its messages; those that may hold a piece of the payload are not repeated. */
function describe(message: string): string {
  if (/^(?:found no matching overload|type mismatch|unsupported key type)/.test(message)) return message
  if (/not found|unresolved/.test(message)) return 'a key is missing'
  if (message.includes('out of bounds')) return 'an index is out of bounds'
  if (message.includes('by zero')) return 'a division by zero'
  return message.includes('overflow') ? 'a number is too large' : 'a function cannot handle its input'
}

function failed(why: string, place?: string): HookError {
  const [where, at] = place === undefined ? ['', 'if_expr'] : [` at ${place}`, `if_expr:${place}`]
  const hint = 'Look at the value in the trace; large or unusual input is better tested in the handler.'
  const message = `if_expr failed${where}: ${why}`
  return new HookError('match.cel_eval', message, why === 'a key is missing' ? { at } : { at, hint })
}
