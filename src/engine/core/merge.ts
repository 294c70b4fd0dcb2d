import { type Kind, stricter } from './decision.ts'

/** How the values of two hooks for one result field become one. */
export interface MergeRule {
  readonly name: 'first' | 'last' | 'sticky' | 'concat' | 'join' | 'intersect' | 'spread' | 'strictest'
  /** `before` is the merged value of earlier hooks, `next` that of the current one. */
  merge(before: unknown, next: unknown): unknown
}

/** Keeps the value of the first hook that returns one. */
export const first: MergeRule = { name: 'first', merge: (before, next) => before ?? next }

/** Keeps the value of the last hook that returns one. */
export const last: MergeRule = { name: 'last', merge: (before, next) => next ?? before }

/** True if one hook returns `true`, else undefined. */
export const sticky: MergeRule = {
  name: 'sticky',
  merge: (before, next) => (before === true || next === true ? true : undefined),
}

/** Concatenates lists; undefined if all are empty. */
export const concat: MergeRule = {
  name: 'concat',
  merge: (before, next) => {
    const all = [...asList(before), ...asList(next)]
    return all.length > 0 ? all : undefined
  },
}

/** Joins texts with a blank line. An empty text from a later hook removes the earlier text. */
export const join: MergeRule = {
  name: 'join',
  merge: (before, next) => (before && next ? `${before}\n\n${next}` : (next ?? before)),
}

/** Keeps the items that all lists contain, so that hooks can only restrict further. */
export const intersect: MergeRule = {
  name: 'intersect',
  merge: (before, next) => {
    if (before === undefined || before === null) return next ?? undefined
    if (next === undefined || next === null) return before
    const allowed = new Set(asList(next))
    return asList(before).filter((item) => allowed.has(item))
  },
}

/** Merges objects; keys of later hooks win. */
export const spread: MergeRule = {
  name: 'spread',
  merge: (before, next) =>
    (before ?? next) === undefined ? undefined : { ...asObject(before), ...asObject(next) },
}

/** Keeps the stricter of two values with a `kind`: block beats ask, ask beats allow. Of two equal ones the first stays. */
export const strictest: MergeRule = {
  name: 'strictest',
  merge: (before, next) => {
    if (!isKinded(before)) return next
    return isKinded(next) ? stricter(before, next) : before
  },
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

function isKinded(value: unknown): value is { kind: Kind } {
  return typeof value === 'object' && value !== null && 'kind' in value
}
