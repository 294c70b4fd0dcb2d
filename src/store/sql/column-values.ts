import { serverError } from '../../engine/core/server-errors.ts'

/** A stored word, read back as one of those we write. */
export function oneOf<const Word extends string>(words: readonly Word[], stored: unknown): Word {
  const found = words.find((word) => word === stored)
  if (found === undefined)
    throw serverError('store.corrupt', `a row holds a word that is none of ${words.join(', ')}`)
  return found
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** PostgreSQL fails on an id that is none; nothing has it, so nobody needs to ask. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
