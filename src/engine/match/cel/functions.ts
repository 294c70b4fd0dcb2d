import type { CelEnv, CelFunc, CelValue } from '@bufbuild/cel'
import type { RE2JS } from 're2js'
import { compileRegex } from '../name-regex.ts'
import { loadCel } from './load.ts'
import { MAX_TEXT, maxEntries, refuse, spend } from './meter.ts'
import { searchCost, textFunctions } from './text-functions.ts'

const MAX_PATTERNS = 256
const searches = new Set(['contains', 'indexOf', 'lastIndexOf'])
const patterns = new Map<string, RE2JS>()
let env: CelEnv | undefined

/** The functions an `if_expr` may call: CEL's own and the strings extension, each paying for the text it reads. */
export function celEnvironment(): CelEnv {
  if (env) return env
  const { cel, strings } = loadCel()
  const standard = [...cel.celEnv().funcs]
  const priced = [...standard, ...strings].flatMap((func) => withPrice(func) ?? [])
  const rest = strings.filter((func) => withPrice(func) === undefined)
  env = cel.celEnv({ funcs: [...rest, ...priced, ...textFunctions(), matches()] })
  return env
}

/** RE2, compiled once per pattern; the library would compile it again at every evaluation. */
export function celPattern(pattern: string, at: string): RE2JS {
  const known = patterns.get(pattern)
  if (known) return known
  const regex = compileRegex(pattern, at)
  const [oldest] = patterns.keys()
  if (patterns.size >= MAX_PATTERNS && oldest !== undefined) patterns.delete(oldest)
  patterns.set(pattern, regex)
  return regex
}

function matches(): CelFunc {
  const { STRING, BOOL } = loadCel().cel.CelScalar
  return loadCel().cel.celMethod('matches', STRING, [STRING], BOOL, function (pattern) {
    const regex = celPattern(pattern, 'if_expr')
    spend(1 + (this.length * regex.programSize()) / 4)
    return regex.test(this)
  })
}

/** The same function with a meter in front, or undefined when its price is constant. */
function withPrice(func: CelFunc): CelFunc | undefined {
  const price = priceOf(func)
  if (!price) return undefined
  const call = (id: number, target: CelValue | undefined, args: CelValue[]) => {
    try {
      price(target, args)
    } catch (error) {
      return loadCel().cel.celError(error, id)
    }
    return func.call(id, target, args)
  }
  return Object.create(func, { call: { value: call } })
}

type Price = (target: CelValue | undefined, args: readonly CelValue[]) => void

function priceOf({ name, target, arguments: args }: CelFunc): Price | undefined {
  const [first] = args
  const on = (target ?? first)?.name
  if (name === '_+_') return on === 'list' ? payConcat : on === 'string' ? payAppend : undefined
  if (searches.has(name)) return paySearch
  if (on === 'google.protobuf.Timestamp') return args.length > 0 ? payTimeZone : undefined
  if (name.startsWith('_')) return on === 'string' || on === 'dyn' ? payCompare : undefined
  return on === 'string' ? payText : undefined
}

// Some of the library's text functions go through a text character by character, at 40 ns each.
const payText: Price = (target, args) => {
  const text = target ?? args[0]
  if (typeof text === 'string') spend(1 + text.length)
}

const paySearch: Price = (target, [part]) => {
  if (typeof target === 'string' && typeof part === 'string') spend(searchCost(target, part))
}

const payAppend: Price = (_, [left, right]) => {
  if (typeof left !== 'string' || typeof right !== 'string') return
  const length = left.length + right.length
  spend(1 + length / 16)
  if (length > 2 * MAX_TEXT) refuse(`a text of more than ${2 * MAX_TEXT} characters`)
}

const payCompare: Price = (_, [left, right]) => {
  if (typeof left === 'string' && typeof right === 'string') spend(Math.min(left.length, right.length) / 256)
}

// A time zone costs a fresh formatter, 50 µs.
const payTimeZone: Price = () => spend(2_000)

/** The library keeps `a + b` as a pair of lists; `map` and `filter` build such pairs a thousand deep. */
const payConcat: Price = (_, [left, right]) => {
  const { isCelList } = loadCel().cel
  if (!isCelList(left) || !isCelList(right)) return
  const size = left.size + right.size
  spend(size)
  if (size > maxEntries()) refuse(`a list of more than ${maxEntries()} entries`)
}
