import { serverError } from '../engine/core/errors/server-errors.ts'

/**
 * How a call fails: `before` the store does anything, `after` the store did it (only the answer is lost), or `stuck`:
 * it waits for `release()` and then runs normally.
 */
export type StoreFault = 'before' | 'after' | 'stuck'

/** One call of a store method. */
export interface StoreCall {
  /** Counts from 1 since the plan was set. */
  readonly n: number
  readonly method: string
}

/** Decides for each call, in order, whether and how it fails. */
export type FaultPlan = (call: StoreCall) => StoreFault | undefined

/** A store that fails as planned, around one that does not. */
export interface FaultyStore<S extends object> {
  readonly store: S
  /** Counts anew from the next call on; nothing fails without a plan. */
  plan(plan?: FaultPlan): void
  /** The calls since the plan was set, in order. */
  calls(): readonly StoreCall[]
  /** How many calls failed since the plan was set. */
  faults(): number
  /** Lets all stuck calls continue. */
  release(): void
}

/** Members that never fail. */
const untouched: ReadonlySet<PropertyKey> = new Set([
  'dialect',
  'onHint',
  'onRunHint',
  'onApprovalHint',
  'close',
])

type Method = (...args: readonly unknown[]) => Promise<unknown>

/** Wraps a store so that its calls fail as planned. */
export function faultyStore<S extends object>(real: S): FaultyStore<S> {
  let decide: FaultPlan = () => undefined
  let calls: StoreCall[] = []
  let faults = 0
  let stuck: (() => void)[] = []

  const around =
    (method: string, run: Method): Method =>
    async (...args) => {
      const call = { n: calls.length + 1, method }
      calls.push(call)
      const fault = decide(call)
      if (fault === undefined) return run(...args)
      faults++
      if (fault === 'before') throw failure(call, fault)
      if (fault === 'stuck') await new Promise<void>((resolve) => stuck.push(resolve))
      const answer = await run(...args)
      if (fault === 'after') throw failure(call, fault)
      return answer
    }

  const wrapped = new Map<PropertyKey, Method>()
  const store = new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function' || untouched.has(name)) return value
      const known = wrapped.get(name) ?? around(String(name), value.bind(target))
      wrapped.set(name, known)
      return known
    },
  })

  return {
    store,
    plan(plan = () => undefined) {
      decide = plan
      calls = []
      faults = 0
    },
    calls: () => calls,
    faults: () => faults,
    release() {
      const waiting = stuck
      stuck = []
      for (const go of waiting) go()
    },
  }
}

/** The n-th call fails, of all or of those that are named. */
export function failNth(n: number, fault: StoreFault, of?: readonly string[]): FaultPlan {
  let seen = 0
  return ({ method }) => {
    if (of !== undefined && !of.includes(method)) return undefined
    seen++
    return seen === n ? fault : undefined
  }
}

/** Every call of these methods fails. */
export function failMethods(methods: readonly string[], fault: StoreFault): FaultPlan {
  return ({ method }) => (methods.includes(method) ? fault : undefined)
}

/** A plan: a random share (0 to 1) of all calls fails, each in one of these ways. The same seed fails the same calls. */
export function failBySeed(
  seed: number,
  share: number,
  faults: readonly StoreFault[] = ['before', 'after'],
): FaultPlan {
  const random = randomOf(seed)
  return () => {
    const fails = random() < share
    const fault = faults[Math.floor(random() * faults.length)]
    return fails ? fault : undefined
  }
}

function failure({ n, method }: StoreCall, fault: StoreFault): Error {
  return serverError('store.unavailable', `${method}, call ${n}, fails as planned: ${fault}`)
}

/** Mulberry32, a small seeded generator. */
function randomOf(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
