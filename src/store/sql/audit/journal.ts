/**
 * The journal holds recorded dispatches until the projector writes their rows. A group is one sealed text, which costs a
 * tenth of its rows.
 */
import { randomUUID } from 'node:crypto'
import { isHookError } from '../../../engine/core/error.ts'
import { journalEntryPath } from '../../paths.ts'
import type { AuditStore, EventRecord, NewAnswer } from '../../stores/audit-store.ts'
import type { NewDelivery } from '../../stores/delivery-store.ts'
import type { SqlDatabase } from '../sql-database.ts'
import { type NewJournalEntry, sealAnswer, sealDelivery } from './audit-group.ts'
import type { Projector } from './projector.ts'

interface BatchSummary {
  readonly events: number
  /** The time of the latest event. */
  readonly latest: number
}

export interface RecordMethods extends Pick<AuditStore, 'recordEvents'> {
  /** Like `recordEvents`, with the events as bytes, which move to another thread without a copy. */
  recordBytes(
    bytes: Uint8Array,
    summary: BatchSummary,
    deliveries: readonly NewDelivery[],
    answers: readonly NewAnswer[],
    now?: number,
  ): Promise<void>
}

/** Deliveries and kept answers are written with the journal entry, because other nodes must find them at once. */
export function recordMethods(
  db: SqlDatabase,
  projector: Projector,
  countSealed: (texts: number) => Promise<void>,
): RecordMethods {
  const { secrets } = db
  const recordBytes: RecordMethods['recordBytes'] = async (bytes, summary, deliveries, answers, now) => {
    const { events } = summary
    await db.statements.appendGroup({
      entry: events === 0 ? undefined : sealJournalEntry(db, bytes, summary),
      deliveries: deliveries.map((delivery) => sealDelivery(secrets, delivery)),
      answers: answers.map((answer) => sealAnswer(secrets, answer)),
      now,
    })
    // The group is written. If this fails, the next call stores the count.
    await countSealed(1 + deliveries.length + answers.length).catch(() => {})
    await projector.appended(events)
  }
  return {
    recordBytes,
    recordEvents: (batch, deliveries, answers, now) =>
      recordBytes(encodeBatch(batch), summarizeBatch(batch), deliveries, answers, now),
  }
}

export function summarizeBatch(batch: readonly EventRecord[]): BatchSummary {
  return { events: batch.length, latest: batch.reduce((latest, { time }) => Math.max(latest, time), 0) }
}

/** An entry that the projector has not written yet. */
export interface JournalEntry {
  readonly position: number
  readonly events: number
  /** Undefined if no key opens it. */
  readonly batch: readonly EventRecord[] | undefined
}

function sealJournalEntry(
  db: SqlDatabase,
  bytes: Uint8Array,
  { events, latest }: BatchSummary,
): NewJournalEntry {
  const id = randomUUID()
  return { id, events, sealed: db.secrets.encrypt(bytes, journalEntryPath(id)), created_at: latest }
}

/** The oldest entry whose position is not in `skipped`. */
export async function readOldestEntry(
  db: SqlDatabase,
  skipped: readonly number[],
): Promise<JournalEntry | undefined> {
  const row = await db.system((trx) =>
    trx
      .selectFrom('audit_journal')
      .select(['position', 'id', 'events', 'sealed'])
      .$if(skipped.length > 0, (query) => query.where('position', 'not in', skipped))
      .orderBy('position')
      .limit(1)
      .executeTakeFirst(),
  )
  return row && { position: row.position, events: row.events, batch: openEntry(db, row) }
}

function openEntry(
  db: SqlDatabase,
  { id, sealed }: { id: string; sealed: string },
): readonly EventRecord[] | undefined {
  try {
    return decodeBatch(db.secrets.decrypt(sealed, journalEntryPath(id)))
  } catch (thrown) {
    if (isHookError(thrown)) return undefined
    throw thrown
  }
}

/** Which of these positions still exist: a node that can read an entry may have written its rows. */
export async function remainingEntries(
  db: SqlDatabase,
  positions: readonly number[],
): Promise<readonly number[]> {
  if (positions.length === 0) return []
  const rows = await db.system((trx) =>
    trx.selectFrom('audit_journal').select('position').where('position', 'in', positions).execute(),
  )
  return rows.map((row) => row.position).toSorted((a, b) => a - b)
}

export async function countWaitingEvents(db: SqlDatabase): Promise<number> {
  const row = await db.system((trx) =>
    trx
      .selectFrom('audit_journal')
      .select((eb) => eb.fn.sum<number | string | null>('events').as('events'))
      .executeTakeFirstOrThrow(),
  )
  return Number(row.events ?? 0)
}

const encoder = new TextEncoder()

/**
 * Encodes a group as bytes. Requests are JSON already and the largest part, so they follow the rest unchanged: inside
 * another JSON text every quote would be escaped and parsed again.
 */
export function encodeBatch(batch: readonly EventRecord[]): Uint8Array<ArrayBuffer> {
  const requests = batch.map(({ request }) => request)
  const rest = JSON.stringify({
    events: batch.map((event) => ({ ...event, request: undefined })),
    lengths: requests.map((request) => request.length),
  })
  // The encoder replaces a lone surrogate with one character, so all lengths stay valid.
  return encoder.encode(`${rest.length} ${rest}${requests.join('')}`)
}

export function decodeBatch(text: string): readonly EventRecord[] {
  const space = text.indexOf(' ')
  const start = space + 1
  let at = start + Number(text.slice(0, space))
  const { events, lengths } = JSON.parse(text.slice(start, at)) as {
    events: readonly Omit<EventRecord, 'request'>[]
    lengths: readonly number[]
  }
  return events.map((event, index) => {
    const from = at
    at += lengths[index] ?? 0
    return { ...event, request: text.slice(from, at) }
  })
}
