import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { MAX_MESSAGE_BYTES } from '../messages/packet.ts'

// eventsource-parser (3.1.1) keeps neither the bytes of an event nor its unknown fields. It reports nothing for `id: 7`
// or `event: ping` without data, and holds back an event that ends with CR CR. The proxy must forward all of these.

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Splits a stream of server-sent events into events and keeps every byte. */
export class EventSplitter {
  #kept: Buffer[] = []
  #size = 0
  #isLineEmpty = true
  #afterReturn = false

  /** Returns the complete events. An empty line ends an event, and a line ends with LF, CR or CR LF. */
  push(chunk: Buffer): Buffer[] {
    const events: Buffer[] = []
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      const isSecondHalf = byte === LINE_FEED && this.#afterReturn
      this.#afterReturn = byte === CARRIAGE_RETURN
      if (isSecondHalf) continue
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) this.#isLineEmpty = false
      else if (!this.#isLineEmpty) this.#isLineEmpty = true
      else {
        const end = byte === CARRIAGE_RETURN && chunk[at + 1] === LINE_FEED ? at + 2 : at + 1
        events.push(this.#take(chunk.subarray(from, end)))
        from = end
      }
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from))
    return events
  }

  /** Returns the bytes after the last complete event. */
  rest(): Buffer {
    return this.#take(Buffer.alloc(0))
  }

  #keep(part: Buffer): void {
    this.#size += part.length
    if (this.#size > MAX_MESSAGE_BYTES)
      throw handlerError('outbound.too_large', `an event has more than ${MAX_MESSAGE_BYTES} bytes`)
    this.#kept.push(part)
  }

  #take(last: Buffer): Buffer {
    const event = this.#kept.length === 0 ? last : Buffer.concat([...this.#kept, last])
    this.#kept = []
    this.#size = 0
    return event
  }
}

const DATA = /^data(?:: ?|$)/

/** Returns the message that an event carries, if any. */
export function eventData(event: Buffer): Buffer | undefined {
  const lines = linesOf(event).filter((line) => DATA.test(line))
  const data = lines.map((line) => line.replace(DATA, '')).join('\n')
  return data === '' ? undefined : Buffer.from(data)
}

export function isEndpointEvent(event: Buffer): boolean {
  return linesOf(event).some((line) => /^event: ?endpoint$/.test(line))
}

/** Returns the same event with another message. */
export function replaceEventData(event: Buffer, data: Buffer): Buffer {
  const others = linesOf(event).filter((line) => line !== '' && !DATA.test(line))
  return Buffer.from(`${[...others, ...dataLines(data.toString('utf8'))].join('\n')}\n\n`)
}

export function eventText(data: string): string {
  return `event: message\n${dataLines(data).join('\n')}\n\n`
}

function dataLines(data: string): string[] {
  return data.split(/\r\n|\n|\r/).map((line) => `data: ${line}`)
}

function linesOf(event: Buffer): string[] {
  return event
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
}
