import pg from 'pg'
import { isHookError } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'

/** SQLSTATE classes of errors in our statement or its data, as opposed to the state of the server. */
const STATEMENT_CLASSES = new Set(['0A', '21', '22', '23', '2B', '42', '44', 'P0'])
const CORRUPT = new Set(['XX001', 'XX002'])
/** Each retry means that another transaction succeeded; more than a pool has connections. */
const MAX_TRIES = 20

/**
 * Converts an error of PostgreSQL to a coded one. Errors of our own statements stay as they are; any other means that the
 * database cannot do this now: gone, restarting, full, read-only after a failover, out of connections, too slow.
 */
export function postgresStoreError(thrown: unknown): unknown {
  if (isHookError(thrown)) return thrown
  const state = sqlState(thrown)
  const message = `PostgreSQL: ${messageOf(thrown)}${state === '' ? '' : ` (${state})`}`
  if (state === '23505')
    return serverError('store.taken', 'the name or key already exists', { cause: thrown })
  if (state === '23503') {
    return serverError('gateway.not_found', 'the row refers to something that does not exist', {
      cause: thrown,
    })
  }
  if (CORRUPT.has(state)) return serverError('store.corrupt', message, { cause: thrown })
  if (STATEMENT_CLASSES.has(state.slice(0, 2)) || thrown instanceof TypeError) return thrown
  return serverError('store.unavailable', message, { cause: thrown })
}

/** Whether PostgreSQL rolled the transaction back because of another one, so that it can run again. */
function isConflict(thrown: unknown): boolean {
  return /^40(?:001|P01)$/.test(sqlState(isHookError(thrown) ? thrown.cause : thrown))
}

/** Whether the connection is broken, or leads to a server that may no longer write. */
export function breaksConnection(thrown: unknown): boolean {
  return /^(?:08|57P|58|XX|25006)/.test(sqlState(isHookError(thrown) ? thrown.cause : thrown))
}

/** Runs a transaction again after a conflict. `attempt` must have no effect outside of its transaction. */
export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === MAX_TRIES || !isConflict(error)) throw error
    }
  }
}

function sqlState(thrown: unknown): string {
  return thrown instanceof pg.DatabaseError ? (thrown.code ?? '') : ''
}

/** A refused connection to several addresses is an AggregateError without its own message. */
function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError) return thrown.errors.map(messageOf).join('; ')
  return thrown instanceof Error ? thrown.message : String(thrown)
}
