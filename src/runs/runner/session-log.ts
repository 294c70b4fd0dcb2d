import { randomUUID } from 'node:crypto'
import { errorText } from '../../engine/core/error.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { NewSessionEvent } from '../run-events.ts'

/** Sends the progress of a run to its session, in order and in batches, without delaying the run. */
export interface SessionLog {
  add(event: NewSessionEvent): void
  /** Makes another report in between. */
  after(report: () => Promise<void>): void
  /** Resolves when every event was sent or given up. */
  drain(): Promise<void>
}

const BATCH = 10
/** A session shows progress; files and long outputs stay at the runner. */
const MAX_TEXT = 16_384

export function createSessionLog(
  send: (events: readonly NewSessionEvent[]) => Promise<void>,
  log: Log,
): SessionLog {
  let waiting: NewSessionEvent[] = []
  let sending: Promise<void> = Promise.resolve()

  async function sendBatch(): Promise<void> {
    const batch = waiting.slice(0, BATCH)
    waiting = waiting.slice(BATCH)
    if (batch.length === 0) return
    await send(batch).catch((thrown) =>
      log('runner.events_lost', { events: batch.length, error: errorText(thrown) }),
    )
  }

  return {
    add({ event_type, data, event_id = randomUUID() }) {
      waiting.push({ event_type, data: shortenTexts(data), event_id })
      sending = sending.then(sendBatch)
    },
    after(report) {
      sending = sending
        .then(report)
        .catch((thrown) => log('runner.report_failed', { error: errorText(thrown) }))
    },
    drain: () => sending,
  }
}

function shortenTexts(data: NewSessionEvent['data']): NewSessionEvent['data'] {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, shorten(value)]))
}

function shorten(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text === undefined || text.length <= MAX_TEXT) return value
  return `${text.slice(0, MAX_TEXT)} … (${text.length} characters)`
}
