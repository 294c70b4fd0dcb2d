import { serverError } from '../../engine/core/server-errors.ts'

/** Where a page ended: a time and what tells rows of the same time apart. Opaque to callers. */
export interface Keyset<Key extends string | number> {
  readonly time: number
  readonly key: Key
}

function writeCursor(keyset: Keyset<string | number>): string {
  return Buffer.from(JSON.stringify([keyset.time, keyset.key])).toString('base64url')
}

export function readNumberCursor(cursor: string): Keyset<number> {
  const { time, key } = read(cursor)
  if (typeof key !== 'number') throw badCursor()
  return { time, key }
}

export function readTextCursor(cursor: string): Keyset<string> {
  const { time, key } = read(cursor)
  if (typeof key !== 'string') throw badCursor()
  return { time, key }
}

/** One row more than asked for was read, to know whether there is a next page. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  keyset: (row: Row) => Keyset<string | number>,
) {
  const last = rows[limit - 1]
  if (rows.length <= limit || last === undefined) return { rows, nextCursor: '' }
  return { rows: rows.slice(0, limit), nextCursor: writeCursor(keyset(last)) }
}

function read(cursor: string): { time: number; key: unknown } {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(parsed) && Number.isSafeInteger(parsed[0])) return { time: parsed[0], key: parsed[1] }
  } catch {
    // Falls through: it is as bad as one that can be read and means nothing.
  }
  throw badCursor()
}

function badCursor() {
  return serverError('gateway.request', 'cursor: not one that a page answered')
}
