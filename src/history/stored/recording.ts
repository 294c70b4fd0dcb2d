/** A recorded group on its way to the journal. The thread of the gateway encodes it, so this file loads nothing else. */

import type { NewDelivery } from '../../deliveries/delivery-table.ts'
import type { EventRecord, NewAnswer } from '../audit-tables.ts'

export interface BatchSummary {
  readonly events: number
  /** The time of the latest event. */
  readonly latest: number
}

/** A group of dispatches to record. */
export interface Recording {
  /** The events as `encodeBatch` returns them, which move to another thread without a copy. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly summary: BatchSummary
  readonly deliveries: readonly NewDelivery[]
  readonly answers: readonly NewAnswer[]
  readonly now: number | undefined
}

export function recordingOf(
  batch: readonly EventRecord[],
  deliveries: readonly NewDelivery[],
  answers: readonly NewAnswer[],
  now: number | undefined,
): Recording {
  const latest = batch.reduce((last, { time }) => Math.max(last, time), 0)
  return { bytes: encodeBatch(batch), summary: { events: batch.length, latest }, deliveries, answers, now }
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
