/**
 * The journal holds recorded dispatches until the projector writes their rows. A group is one sealed text, which costs a
 * tenth of its rows.
 */
import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { afterWholeJournal, type OperationCall, operation, timed } from '../../database/operation.ts'
import { journalEntryPath } from '../../database/sealed-paths.ts'
import type { SqlDatabase } from '../../database/sql-database.ts'
import type { NewDelivery } from '../../deliveries/delivery-table.ts'
import { isHookError } from '../../engine/core/errors/error.ts'
import type { AuditVerdict, EventRecord, NewAnswer } from '../audit-tables.ts'
import { type NewJournalEntry, sealAnswer, sealDelivery } from './audit-group.ts'
import { type BatchSummary, decodeBatch, type Recording, recordingOf } from './recording.ts'
import { verifyChains } from './verify-audit.ts'

async function recordBytes(
  { db, sentAt, journal }: OperationCall,
  { bytes, summary, deliveries, answers, now }: Recording,
): Promise<void> {
  const { secrets } = db
  const { events } = summary
  // Deliveries and kept answers are written with the journal entry, because other nodes must find them at once.
  await db.statements.appendGroup({
    entry: events === 0 ? undefined : sealJournalEntry(db, bytes, summary),
    deliveries: deliveries.map((delivery) => sealDelivery(secrets, delivery)),
    answers: answers.map((answer) => sealAnswer(secrets, answer)),
    now: now ?? sentAt,
  })
  await journal.appended(events)
}

export const recordOperations = {
  recordBytes: operation(timed, recordBytes),

  /**
   * Records a group of dispatches with their deliveries and the answers to keep, all or nothing, and updates their sessions.
   * Existing dedup keys stay as they are, so recording a group twice changes nothing.
   */
  recordEvents: operation(
    timed,
    (
      call,
      batch: readonly EventRecord[],
      deliveries: readonly NewDelivery[],
      answers: readonly NewAnswer[],
      now?: number,
    ): Promise<void> => recordBytes(call, recordingOf(batch, deliveries, answers, now)),
  ),

  /** Verifies the chain of MACs over all recorded executions, and the journal. An entry that cannot become rows counts as changed. */
  verifyAudit: operation(afterWholeJournal, async ({ db, journal }): Promise<AuditVerdict> => {
    const verdict = await verifyChains(db)
    const unreadable = verdict.broken === undefined ? await journal.firstUnreadable() : undefined
    if (unreadable === undefined) return verdict
    return { ...verdict, broken: { chain: 'journal', seq: unreadable, why: 'the entry cannot be read' } }
  }),
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
  const isOther = skipped.length === 0 ? sql`` : sql`where position not in (${sql.join([...skipped])})`
  const [row] = await selectRows<{ position: number; id: string; events: number; sealed: string }>(
    db,
    sql`select position, id, events, sealed from audit_journal ${isOther} order by position limit 1`,
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
  const rows = await selectRows<{ position: number }>(
    db,
    sql`select position from audit_journal where position in (${sql.join([...positions])}) order by position`,
  )
  return rows.map((row) => row.position)
}

export async function countWaitingEvents(db: SqlDatabase): Promise<number> {
  const [row] = await selectRows<{ events: number | null }>(
    db,
    sql`select sum(events) as events from audit_journal`,
  )
  return Number(row?.events ?? 0)
}

async function selectRows<Row>(db: SqlDatabase, query: RawBuilder<unknown>): Promise<readonly Row[]> {
  return db.system(async (trx) => (await sql<Row>`${query}`.execute(trx)).rows)
}
