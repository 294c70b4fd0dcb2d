import type { HookError } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'

/** The last row of a page: its time, and a key that separates rows of the same time. Callers see an opaque text. */
export interface Keyset<Key extends string | number> {
  readonly time: number
  readonly key: Key
}

export function readNumberCursor(cursor: string): Keyset<number> {
  const { time, key } = readKeyset(cursor)
  if (typeof key !== 'number') throw invalidCursor()
  return { time, key }
}

export function readTextCursor(cursor: string): Keyset<string> {
  const { time, key } = readKeyset(cursor)
  if (typeof key !== 'string') throw invalidCursor()
  return { time, key }
}

/** Cuts a page from `limit + 1` rows. The extra row only shows that there is a next page. */
export function pageFromRows<Row>(
  rows: readonly Row[],
  limit: number,
  keyset: (row: Row) => Keyset<string | number>,
) {
  const last = rows[limit - 1]
  if (rows.length <= limit || last === undefined) return { rows, nextCursor: '' }
  const { time, key } = keyset(last)
  return { rows: rows.slice(0, limit), nextCursor: encodeCursor([time, key]) }
}

export function encodeCursor(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** The parts of a cursor; an empty list if it is malformed. */
export function decodeCursor(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

export function invalidCursor(): HookError {
  return serverError('gateway.request', 'cursor: pass a cursor that an earlier page returned')
}

function readKeyset(cursor: string): { time: number; key: unknown } {
  const [time, key] = decodeCursor(cursor)
  if (typeof time !== 'number' || !Number.isSafeInteger(time)) throw invalidCursor()
  return { time, key }
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** Opaque; empty on the last page. */
  readonly nextCursor: string
}
