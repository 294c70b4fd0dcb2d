import { serverError } from '../../engine/core/server-errors.ts'

/**
 * Transactions end in another order than they begin, so no number in the rows tells which of them are new. A cursor is
 * therefore a snapshot, as PostgreSQL writes it: new is what was written by transactions that it could not see.
 */
export function isSnapshot(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,19}:\d{1,19}:[\d,]*$/.test(text)
}

export function badCursor(): Error {
  return serverError('gateway.request', 'cursor: not one that was answered')
}
