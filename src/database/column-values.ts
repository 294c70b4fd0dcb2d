import { serverError } from '../engine/core/errors/server-errors.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** PostgreSQL rejects a statement with a malformed id. No row has such an id, so callers skip the statement. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** Checks that a stored value is one of the allowed words. Throws `store.corrupt` otherwise. */
export function readUnion<const Word extends string>(words: readonly Word[], stored: unknown): Word {
  const found = words.find((word) => word === stored)
  if (found === undefined)
    throw serverError('store.corrupt', `a column holds a value that is not one of ${words.join(', ')}`)
  return found
}
