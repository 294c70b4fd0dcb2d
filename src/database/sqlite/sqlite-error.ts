import { errorText, isHookError } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'

const BUSY = 5
const CORRUPT = 11
const NOT_A_DATABASE = 26
/** Result codes about our statement or its data. Any other means that the database cannot do it now. */
const STATEMENT_ERRORS = new Set([1, 18, 20, 21, 25])
const CONSTRAINT = 19
const UNIQUE = new Set([1555, 2067, 2579])
const FOREIGN_KEY = 787

/** Converts an error of SQLite to a coded one. Errors of our own statements stay as they are. */
export function sqliteStoreError(thrown: unknown): unknown {
  if (isHookError(thrown)) return thrown
  const extended = extendedResultCode(thrown)
  if (extended === undefined) return thrown
  const result = extended & 0xff
  const text = errorText(thrown)
  if (result === CORRUPT || result === NOT_A_DATABASE)
    return serverError('store.corrupt', `the database file cannot be read: ${text}`)
  if (UNIQUE.has(extended)) return serverError('store.taken', 'the name or key already exists')
  if (extended === FOREIGN_KEY || (result === CONSTRAINT && text.startsWith('FOREIGN KEY')))
    return serverError('gateway.not_found', 'the row refers to something that does not exist')
  if (result === CONSTRAINT || STATEMENT_ERRORS.has(result)) return thrown
  return serverError('store.unavailable', `SQLite: ${text}`)
}

/** Another process has the write lock. */
export function isBusy(thrown: unknown): boolean {
  return ((extendedResultCode(thrown) ?? 0) & 0xff) === BUSY
}

/** SQLite's extended result code; undefined for other errors. */
export function extendedResultCode(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return undefined
  return typeof thrown.errcode === 'number' ? thrown.errcode : undefined
}
