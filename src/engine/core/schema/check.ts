/** The first problem of a value: its path and what the check expects there. */
export interface Problem {
  /** Dot path of the wrong value; empty for the value itself. */
  readonly path: string
  readonly expected: string
}

/** A function that returns the first problem of a value, or undefined if it fits. `T` exists for the compiler only. */
export interface Check<T> {
  (value: unknown): Problem | undefined
  /** The TypeScript type of a value that fits; never set. */
  readonly type?: T
  /** Set if the check accepts `undefined`, so that a key may be missing. */
  readonly optional?: true
}

/** The type that a check accepts. */
export type Checked<C> = C extends Check<infer T> ? T : never

type Shape = Readonly<Record<string, Check<unknown>>>
type OptionalKeys<S> = { [K in keyof S]: undefined extends Checked<S[K]> ? K : never }[keyof S]
type Flat<T> = { [K in keyof T]: T[K] }
/** The object type that `shape` accepts. */
export type Shaped<S> = Flat<
  { readonly [K in Exclude<keyof S, OptionalKeys<S>>]: Checked<S[K]> } & {
    readonly [K in OptionalKeys<S>]?: Checked<S[K]>
  }
>

const simple =
  <T>(expected: string, fits: (value: unknown) => boolean): Check<T> =>
  (value) =>
    fits(value) ? undefined : { path: '', expected }

/** Accepts any string. */
export const text: Check<string> = simple('a string', (v) => typeof v === 'string')
/** Accepts any number, including `NaN`. */
export const number: Check<number> = simple('a number', (v) => typeof v === 'number')
/** Accepts `true` and `false`. */
export const flag: Check<boolean> = simple('true or false', (v) => typeof v === 'boolean')
/** Accepts every value. */
export const anything: Check<unknown> = () => undefined
/** Accepts an object with any keys. Lists and `null` are not objects. */
export const record: Check<Readonly<Record<string, unknown>>> = simple('an object', isRecord)

/** Accepts a list. The items are not checked: `T` is what you say they are. */
export function list<T = unknown>(): Check<readonly T[]> {
  return simple('a list', Array.isArray)
}

/** Accepts an object. Its keys are not checked: `T` is what you say it is. */
export function object<T extends object>(): Check<T> {
  return simple('an object', isRecord)
}

/** Accepts one of these strings. */
export function oneOf<const T extends readonly string[]>(...values: T): Check<T[number]> {
  return simple(`one of ${values.join(', ')}`, (v) => values.some((value) => value === v))
}

/** Accepts `undefined` as well, so that the key of a `shape` may be missing. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  const optionalCheck: Check<T | undefined> = (value) => (value === undefined ? undefined : check(value))
  return Object.assign(optionalCheck, { optional: true as const })
}

/**
 * Accepts an object with these keys. It ignores other keys, because clients add fields of their own.
 *
 * ```ts
 * const payload = check.shape({ branch: check.text, force: check.optional(check.flag) })
 * ```
 */
export function shape<const S extends Shape>(parts: S): Check<Shaped<S>> {
  const all = Object.entries(parts)
  const required = all.filter(([, check]) => !check.optional)
  const optional = all.filter(([, check]) => check.optional)
  return (value) => {
    if (!isRecord(value)) return { path: '', expected: 'an object' }
    for (let i = 0; i < required.length; i++) {
      const part = required[i]
      const problem = part?.[1](value[part[0]])
      if (part && problem) return inside(part[0], problem)
    }
    for (let i = 0; i < optional.length; i++) {
      const part = optional[i]
      // Most optional keys are absent, and calling their checks would dominate the cost of this function.
      if (part === undefined || value[part[0]] === undefined) continue
      const problem = part[1](value[part[0]])
      if (problem) return inside(part[0], problem)
    }
    return undefined
  }
}

function inside(key: string, { path, expected }: Problem): Problem {
  return { path: path ? `${key}.${path}` : key, expected }
}

/** Whether a value is an object other than a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
