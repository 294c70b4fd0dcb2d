import { errorText, isHookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'

const CORRUPT = 11
const NOT_A_DATABASE = 26
/** Results that say something about our statement or its data; any other means that the file cannot take it now. */
const OURS = new Set([1, 18, 20, 21, 25])
const CONSTRAINT = 19
const UNIQUE = new Set([1555, 2067, 2579])
const FOREIGN_KEY = 787

/** What the caller gets to see of a failure of SQLite. */
export function asStoreError(thrown: unknown): unknown {
  if (isHookError(thrown)) return thrown
  const extended = resultOf(thrown)
  if (extended === undefined) return thrown
  const result = extended & 0xff
  const text = errorText(thrown)
  if (result === CORRUPT || result === NOT_A_DATABASE)
    return serverError('store.corrupt', `the database file cannot be read: ${text}`)
  if (UNIQUE.has(extended)) return serverError('store.taken', 'that name or key is taken')
  if (extended === FOREIGN_KEY || (result === CONSTRAINT && text.startsWith('FOREIGN KEY')))
    return serverError('gateway.not_found', 'what the row belongs to is not there')
  if (result === CONSTRAINT || OURS.has(result)) return thrown
  return serverError('store.unavailable', `SQLite: ${text}`)
}

/** The extended result code. */
export function resultOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return undefined
  return typeof thrown.errcode === 'number' ? thrown.errcode : undefined
}
