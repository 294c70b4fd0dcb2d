import { randomUUID } from 'node:crypto'
import { isHookError } from '../../../engine/core/error.ts'
import { journalPlace } from '../../paths.ts'
import type { AuditStore, EventRecord, KeptAnswer } from '../../stores/audit-store.ts'
import type { NewDelivery } from '../../stores/delivery-store.ts'
import type { Db } from '../sql-database.ts'
import { sealGroup } from './audit-group.ts'
import type { Projector } from './projector.ts'

export interface Recorder extends Pick<AuditStore, 'recordEvents'> {
  /** The same with the dispatches as bytes already, which cross threads without being copied. */
  recordBytes(
    bytes: Uint8Array,
    about: { readonly events: number; readonly now: number },
    deliveries: readonly NewDelivery[],
    answers: readonly KeptAnswer[],
  ): Promise<void>
}

/**
 * A group is appended to the journal as one sealed text, which costs a tenth of its rows; those are made of it a moment
 * later. What others must find at once, deliveries and kept answers, is written with it.
 */
export function recorder(
  db: Db,
  projector: Projector,
  countSealed: (texts: number) => Promise<void>,
): Recorder {
  const recordBytes: Recorder['recordBytes'] = async (bytes, { events, now }, deliveries, answers) => {
    const sealed = sealGroup(db.secrets, [], deliveries, answers)
    const entry = events === 0 ? undefined : newEntry(db, bytes, events, now)
    await db.byHand.appendGroup({ entry, deliveries: sealed.deliveries, answers: sealed.answers, now })
    // It is written; a count that could not be is written with the next one.
    await countSealed(1 + deliveries.length + answers.length).catch(() => {})
    await projector.appended(events)
  }
  return {
    recordBytes,
    recordEvents: (batch, deliveries, answers) =>
      recordBytes(encodeBatch(batch), aboutBatch(batch), deliveries, answers),
  }
}

export function aboutBatch(batch: readonly EventRecord[]): { events: number; now: number } {
  return { events: batch.length, now: batch.reduce((latest, { time }) => Math.max(latest, time), 0) }
}

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

/**
 * A group as bytes. Requests are JSON already and make up most of it, so they stand beside the rest as they are: written
 * into JSON once more, every quote of theirs would have to be escaped and read again.
 */
export function encodeBatch(batch: readonly EventRecord[]): Uint8Array<ArrayBuffer> {
  const requests = batch.map(({ request }) => request)
  const rest = JSON.stringify({
    events: batch.map((event) => ({ ...event, request: undefined })),
    lengths: requests.map((request) => request.length),
  })
  // Half a character has no bytes and becomes one that has, of the same length.
  const text = `${rest.length} ${rest}${requests.join('')}`
  return encoder.encode(text)
}

export function decodeBatch(bytes: string): readonly EventRecord[] {
  const space = bytes.indexOf(' ')
  const start = space + 1
  let at = start + Number(bytes.slice(0, space))
  const { events, lengths } = JSON.parse(bytes.slice(start, at)) as {
    events: readonly Omit<EventRecord, 'request'>[]
    lengths: readonly number[]
  }
  return events.map((event, index) => {
    const from = at
    at += lengths[index] ?? 0
    return { ...event, request: bytes.slice(from, at) }
  })
}

const encoder = new TextEncoder()
