/** Why a value does not fit: where, and what was expected there. */
export interface Problem {
  readonly path: string
  readonly expected: string
}

/** A plain function that names the first problem of a value. `T` exists for the compiler only. */
export interface Check<T> {
  (value: unknown): Problem | undefined
  readonly type?: T
  /** Accepts `undefined`, so that a key may be missing. */
  readonly optional?: true
}

export type Checked<C> = C extends Check<infer T> ? T : never

type Shape = Readonly<Record<string, Check<unknown>>>
type OptionalKeys<S> = { [K in keyof S]: undefined extends Checked<S[K]> ? K : never }[keyof S]
type Flat<T> = { [K in keyof T]: T[K] }
export type Shaped<S> = Flat<
  { readonly [K in Exclude<keyof S, OptionalKeys<S>>]: Checked<S[K]> } & {
    readonly [K in OptionalKeys<S>]?: Checked<S[K]>
  }
>

const simple =
  <T>(expected: string, fits: (value: unknown) => boolean): Check<T> =>
  (value) =>
    fits(value) ? undefined : { path: '', expected }

export const text: Check<string> = simple('a string', (v) => typeof v === 'string')
export const number: Check<number> = simple('a number', (v) => typeof v === 'number')
export const flag: Check<boolean> = simple('true or false', (v) => typeof v === 'boolean')
export const anything: Check<unknown> = () => undefined
export const record: Check<Readonly<Record<string, unknown>>> = simple('an object', isRecord)

export function list<T = unknown>(): Check<readonly T[]> {
  return simple('a list', Array.isArray)
}

/** A value whose inner shape only the compiler checks. */
export function object<T extends object>(): Check<T> {
  return simple('an object', isRecord)
}

export function oneOf<const T extends readonly string[]>(...values: T): Check<T[number]> {
  return simple(`one of ${values.join(', ')}`, (v) => values.some((value) => value === v))
}

export function optional<T>(check: Check<T>): Check<T | undefined> {
  const whenThere: Check<T | undefined> = (value) => (value === undefined ? undefined : check(value))
  return Object.assign(whenThere, { optional: true as const })
}

/** Keys that are not listed are welcome: clients add fields of their own. */
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
      // Most are absent, and asking their check would cost more than everything else here.
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

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
