import pg from 'pg'
import { isHookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'

/** Classes of SQLSTATE that say something about our statement or its data, not about the state of the server. */
const OURS = new Set(['0A', '21', '22', '23', '2B', '42', '44', 'P0'])
const CORRUPT = new Set(['XX001', 'XX002'])

/**
 * What the caller gets to see of a failure. Whatever is not about our own statement means that the database cannot do this
 * now: gone, restarting, full, read-only after a failover, out of connections, too slow.
 */
export function asStoreError(thrown: unknown): unknown {
  if (isHookError(thrown)) return thrown
  const state = stateOf(thrown)
  const message = `PostgreSQL: ${textOf(thrown)}${state === '' ? '' : ` (${state})`}`
  if (state === '23505') return serverError('store.taken', 'that name or key is taken', { cause: thrown })
  if (state === '23503') {
    return serverError('gateway.not_found', 'what the row belongs to is not there', { cause: thrown })
  }
  if (CORRUPT.has(state)) return serverError('store.corrupt', message, { cause: thrown })
  if (OURS.has(state.slice(0, 2)) || thrown instanceof TypeError) return thrown
  return serverError('store.unavailable', message, { cause: thrown })
}

/** Two transactions were in each other's way, and this one gave way: nothing of it was done, so it can be done again. */
export function gaveWay(thrown: unknown): boolean {
  return /^40(?:001|P01)$/.test(stateOf(isHookError(thrown) ? thrown.cause : thrown))
}

/** After these the connection is of no more use: it is broken, or leads to a server that may no longer write. */
export function spoilsConnection(thrown: unknown): boolean {
  return /^(?:08|57P|58|XX|25006)/.test(stateOf(isHookError(thrown) ? thrown.cause : thrown))
}

function stateOf(thrown: unknown): string {
  return thrown instanceof pg.DatabaseError ? (thrown.code ?? '') : ''
}

/** Node reports a refused connection to several addresses as an error without a text of its own. */
function textOf(thrown: unknown): string {
  if (thrown instanceof AggregateError) return thrown.errors.map(textOf).join('; ')
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Each time somebody else has got on; more than a pool has connections. */
const TRIES = 20

/** Begins a transaction again that gave way to another. It is rolled back by then, so only rows may have been changed by it. */
export async function insist<T>(
  attempt: () => Promise<T>,
  mayHelp: (error: unknown) => boolean = gaveWay,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === TRIES || !mayHelp(error)) throw error
    }
  }
}
