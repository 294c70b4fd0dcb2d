import type { CelEnv, CelFunc, CelValue } from '@bufbuild/cel'
import { compileRegex } from '../regex.ts'
import { loadCel } from './load-cel.ts'
import { MAX_TEXT, maxEntries, refuseEvaluation, spendSteps } from './meter.ts'
import { searchCost, textFunctions } from './text-functions.ts'

const searches = new Set(['contains', 'indexOf', 'lastIndexOf'])
let env: CelEnv | undefined

/** The functions that an `if_expr` may call: CEL's own and the strings extension. Each spends steps for what it reads. */
export function celEnvironment(): CelEnv {
  if (env) return env
  const { cel, strings } = loadCel()
  const standard = [...cel.celEnv().funcs]
  const metered = [...standard, ...strings].flatMap((func) => withMeter(func) ?? [])
  const rest = strings.filter((func) => withMeter(func) === undefined)
  env = cel.celEnv({ funcs: [...rest, ...metered, ...textFunctions(), matches()] })
  return env
}

/** The library would compile the pattern at every evaluation. */
function matches(): CelFunc {
  const { STRING, BOOL } = loadCel().cel.CelScalar
  return loadCel().cel.celMethod('matches', STRING, [STRING], BOOL, function (pattern) {
    const regex = compileRegex(pattern, 'if_expr')
    spendSteps(1 + (this.length * regex.programSize()) / 4)
    return regex.test(this)
  })
}

/** The same function that first spends steps; undefined if its cost is constant. */
function withMeter(func: CelFunc): CelFunc | undefined {
  const spendCost = costOf(func)
  if (!spendCost) return undefined
  const call = (id: number, target: CelValue | undefined, args: CelValue[]) => {
    try {
      spendCost(target, args)
    } catch (error) {
      return loadCel().cel.celError(error, id)
    }
    return func.call(id, target, args)
  }
  return Object.create(func, { call: { value: call } })
}

type SpendCost = (target: CelValue | undefined, args: readonly CelValue[]) => void

function costOf({ name, target, arguments: args }: CelFunc): SpendCost | undefined {
  const [first] = args
  const on = (target ?? first)?.name
  if (name === '_+_') return on === 'list' ? spendConcat : on === 'string' ? spendAppend : undefined
  if (searches.has(name)) return spendSearch
  if (on === 'google.protobuf.Timestamp') return args.length > 0 ? spendTimeZone : undefined
  if (name.startsWith('_')) return on === 'string' || on === 'dyn' ? spendCompare : undefined
  return on === 'string' ? spendText : undefined
}

// Some text functions of the library take 40 ns per character.
const spendText: SpendCost = (target, args) => {
  const text = target ?? args[0]
  if (typeof text === 'string') spendSteps(1 + text.length)
}

const spendSearch: SpendCost = (target, [part]) => {
  if (typeof target === 'string' && typeof part === 'string') spendSteps(searchCost(target, part))
}

const spendAppend: SpendCost = (_, [left, right]) => {
  if (typeof left !== 'string' || typeof right !== 'string') return
  const length = left.length + right.length
  spendSteps(1 + length / 16)
  if (length > 2 * MAX_TEXT) refuseEvaluation(`a text of more than ${2 * MAX_TEXT} characters`)
}

const spendCompare: SpendCost = (_, [left, right]) => {
  if (typeof left === 'string' && typeof right === 'string')
    spendSteps(Math.min(left.length, right.length) / 256)
}

// Every use of a time zone creates a formatter, which takes 50 µs.
const spendTimeZone: SpendCost = () => spendSteps(2_000)

/** The library represents `a + b` as a pair of lists; `map` and `filter` nest such pairs a thousand deep. */
const spendConcat: SpendCost = (_, [left, right]) => {
  const { isCelList } = loadCel().cel
  if (!isCelList(left) || !isCelList(right)) return
  const size = left.size + right.size
  spendSteps(size)
  if (size > maxEntries()) refuseEvaluation(`a list of more than ${maxEntries()} entries`)
}
