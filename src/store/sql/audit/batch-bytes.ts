import type { EventRecord } from '../../stores/audit-store.ts'

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
