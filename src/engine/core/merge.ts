import { stricter as stricterOf } from './decision.ts'

/** How two answers for one result field become one. `before` is what earlier hooks left. */
export interface MergeRule {
  readonly name: 'first' | 'last' | 'sticky' | 'concat' | 'join' | 'intersect' | 'spread' | 'stricter'
  merge(before: unknown, next: unknown): unknown
}

/** The earliest hook that says something wins. */
export const first: MergeRule = { name: 'first', merge: (before, next) => before ?? next }

/** The latest hook that says something wins. */
export const last: MergeRule = { name: 'last', merge: (before, next) => next ?? before }

/** Once true, always true. */
export const sticky: MergeRule = {
  name: 'sticky',
  merge: (before, next) => (before === true || next === true ? true : undefined),
}

/** Lists behind one another; nothing in them means nothing said. */
export const concat: MergeRule = {
  name: 'concat',
  merge: (before, next) => {
    const all = [...asList(before), ...asList(next)]
    return all.length > 0 ? all : undefined
  },
}

/** Texts with a blank line between. An empty text from a later hook takes the earlier text away. */
export const join: MergeRule = {
  name: 'join',
  merge: (before, next) => (before && next ? `${before}\n\n${next}` : (next ?? before)),
}

/** What every list that was given contains: restrictions only ever narrow. */
export const intersect: MergeRule = {
  name: 'intersect',
  merge: (before, next) => {
    if (before === undefined || before === null) return next ?? undefined
    if (next === undefined || next === null) return before
    const allowed = new Set(asList(next))
    return asList(before).filter((item) => allowed.has(item))
  },
}

/** Objects over one another, later keys win. */
export const spread: MergeRule = {
  name: 'spread',
  merge: (before, next) =>
    (before ?? next) === undefined ? undefined : { ...asObject(before), ...asObject(next) },
}

/** Block beats ask, ask beats allow; ties go to the earlier hook. */
export const stricter: MergeRule = {
  name: 'stricter',
  merge: (before, next) => {
    if (!isKinded(before)) return next
    return isKinded(next) ? stricterOf(before, next) : before
  },
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

function isKinded(value: unknown): value is { kind: 'allow' | 'ask' | 'block' } {
  return typeof value === 'object' && value !== null && 'kind' in value
}
