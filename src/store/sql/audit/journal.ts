import { randomUUID } from 'node:crypto'
import { isHookError } from '../../../engine/core/error.ts'
import { journalPlace } from '../../places.ts'
import type { EventRecord } from '../../stores/audit-store.ts'
import type { Db } from '../database.ts'
import { decodeBatch } from './batch-bytes.ts'

/** A group as it is appended. */
export interface NewEntry {
  readonly id: string
  readonly events: number
  readonly sealed: string
  readonly created_at: number
}

/** A group that waits to be put into rows. */
export interface Entry {
  readonly position: number
  readonly events: number
  /** Undefined when no key opens it. */
  readonly batch: readonly EventRecord[] | undefined
}

export function newEntry(db: Db, bytes: Uint8Array, events: number, now: number): NewEntry {
  const id = randomUUID()
  return { id, events, sealed: db.secrets.encrypt(bytes, journalPlace(id)), created_at: now }
}

/** But for those that were passed over. */
export async function oldestEntry(db: Db, passedOver: readonly number[]): Promise<Entry | undefined> {
  const row = await db.system((trx) =>
    trx
      .selectFrom('audit_journal')
      .select(['position', 'id', 'events', 'sealed'])
      .$if(passedOver.length > 0, (query) => query.where('position', 'not in', passedOver))
      .orderBy('position')
      .limit(1)
      .executeTakeFirst(),
  )
  return row && { position: row.position, events: row.events, batch: open(db, row) }
}

function open(db: Db, { id, sealed }: { id: string; sealed: string }): readonly EventRecord[] | undefined {
  try {
    return decodeBatch(db.secrets.decrypt(sealed, journalPlace(id)))
  } catch (thrown) {
    if (isHookError(thrown)) return undefined
    throw thrown
  }
}

/** Which of these are still there: somebody who can read them may have made rows of them. */
export async function stillWaiting(db: Db, positions: readonly number[]): Promise<readonly number[]> {
  if (positions.length === 0) return []
  const rows = await db.system((trx) =>
    trx.selectFrom('audit_journal').select('position').where('position', 'in', positions).execute(),
  )
  return rows.map((row) => row.position).toSorted((a, b) => a - b)
}

export async function waitingEvents(db: Db): Promise<number> {
  const row = await db.system((trx) =>
    trx
      .selectFrom('audit_journal')
      .select((eb) => eb.fn.sum<number | string | null>('events').as('events'))
      .executeTakeFirstOrThrow(),
  )
  return Number(row.events ?? 0)
}
