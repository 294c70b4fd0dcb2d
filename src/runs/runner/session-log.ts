import { randomUUID } from 'node:crypto'
import { errorText } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import type { NewSessionEvent } from '../run-events.ts'

/** Sends the progress of a run to its session, in order and in batches, without delaying the run. */
export interface SessionLog {
  add(event: NewSessionEvent): void
  /** Adds an event whose texts must not be shortened. */
  keep(event: NewSessionEvent): void
  /** Makes another report in between. */
  after(report: () => Promise<void>): void
  /** Resolves when every event was sent or given up. */
  drain(): Promise<void>
}

const BATCH = 10
/** A request to the gateway holds one mebibyte at most. */
const MAX_BATCH_BYTES = 700_000
/** A session shows progress; files and long outputs stay at the runner. */
const MAX_TEXT = 16_384

export function createSessionLog(
  send: (events: readonly NewSessionEvent[]) => Promise<void>,
  log: Log,
): SessionLog {
  let waiting: NewSessionEvent[] = []
  let sending: Promise<void> = Promise.resolve()

  async function sendBatch(): Promise<void> {
    const count = batchSize(waiting)
    const batch = waiting.slice(0, count)
    waiting = waiting.slice(count)
    if (batch.length === 0) return
    await send(batch).catch((thrown) =>
      log('runner.events_lost', { events: batch.length, error: errorText(thrown) }),
    )
  }

  function keep({ event_type, data, event_id = randomUUID() }: NewSessionEvent): void {
    waiting.push({ event_type, data, event_id })
    sending = sending.then(sendBatch)
  }

  return {
    keep,
    add: (event) => keep({ ...event, data: shortenTexts(event.data) }),
    after(report) {
      sending = sending
        .then(report)
        .catch((thrown) => log('runner.report_failed', { error: errorText(thrown) }))
    },
    drain: () => sending,
  }
}

/** How many of the waiting events fit into one request. */
function batchSize(waiting: readonly NewSessionEvent[]): number {
  let size = 0
  const tooMany = waiting.slice(0, BATCH).findIndex((event) => {
    size += Buffer.byteLength(JSON.stringify(event))
    return size > MAX_BATCH_BYTES
  })
  return tooMany < 0 ? BATCH : Math.max(1, tooMany)
}

function shortenTexts(data: NewSessionEvent['data']): NewSessionEvent['data'] {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, shorten(value)]))
}

function shorten(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text === undefined || text.length <= MAX_TEXT) return value
  return `${text.slice(0, MAX_TEXT)} … (${text.length} characters)`
}
