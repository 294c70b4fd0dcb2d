import type { AuditStore, EventRecord, KeptAnswer } from '../../stores/audit-store.ts'
import type { NewDelivery } from '../../stores/delivery-store.ts'
import type { Db } from '../database.ts'
import { encodeBatch } from './batch-bytes.ts'
import { newEntry } from './journal.ts'
import type { Projector } from './projector.ts'
import { sealGroup } from './seal-group.ts'

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
