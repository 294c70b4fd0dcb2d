import type { RevocationWatch } from '../../../access/revocation-watch.ts'
import type { AdmittedCaller } from '../../../access/tokens.ts'
import { tooSoon } from '../../../engine/core/time/retry-after.ts'
import type { SubscriptionMethod } from '../../../methods/method.ts'
import type { Door } from '../door.ts'
import { prepareSubscription } from '../subscription.ts'
import { apiResponse } from './api-routes.ts'

interface StreamRequest {
  readonly admitted: AdmittedCaller
  /** The `Last-Event-ID` header: the cursor of a client that reconnects. */
  readonly lastEventId: string | undefined
}

interface EventStreamsOptions {
  readonly door: Pick<Door, 'parts' | 'clock' | 'log'>
  readonly revocations: RevocationWatch
}

const MAX_STREAMS = 1_000
/** A stream whose client reads too slowly ends; the client resumes from its last event id. */
const MAX_BUFFERED = 4 * 1_048_576
/** Proxies close connections that stay silent. */
const KEEP_ALIVE_MS = 20_000
const BUSY_MS = 1_000

/** Subscriptions over HTTP as server-sent events. */
export class EventStreams {
  readonly #options: EventStreamsOptions
  readonly #streams = new Set<() => void>()
  #isClosed = false

  constructor(options: EventStreamsOptions) {
    this.#options = options
  }

  /** Rejects as a call of the method would; otherwise the response never ends by itself. */
  async open(
    row: SubscriptionMethod,
    params: Record<string, unknown>,
    { admitted, lastEventId }: StreamRequest,
  ): Promise<Response> {
    if (this.#streams.size >= MAX_STREAMS) throw tooSoon('gateway.busy', 'too many event streams', BUSY_MS)
    const given = lastEventId === undefined ? params : { ...params, cursor: lastEventId }
    const { parts, clock, log } = this.#options.door
    const subscription = await prepareSubscription(row, given, { caller: admitted.caller, parts, clock, log })
    if (this.#isClosed) throw tooSoon('gateway.stopping', 'the gateway is stopping', BUSY_MS)
    const body = this.#openStream(admitted, (write) => {
      // An id without data tells the client where to resume, and triggers no event.
      const { first, cursor: start } = subscription
      write(`id: ${start}\n\n`)
      if (first !== undefined) write(`event: ${first.event}\ndata: ${JSON.stringify(first.data)}\n\n`)
      return subscription.start((item, cursor) =>
        write(`event: ${row.eventOf?.(item) ?? row.event}\nid: ${cursor}\ndata: ${JSON.stringify(item)}\n\n`),
      )
    })
    return apiResponse(body, { type: 'text/event-stream' })
  }

  /** Ends every stream and refuses new ones. */
  close(): void {
    this.#isClosed = true
    for (const end of [...this.#streams]) end()
  }

  #openStream(admitted: AdmittedCaller, start: (write: (text: string) => void) => () => void) {
    const { door, revocations } = this.#options
    let release = () => {}
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const end = () => {
            if (!this.#streams.has(end)) return
            release()
            controller.close()
          }
          const write = (text: string) => {
            controller.enqueue(Buffer.from(text))
            if ((controller.desiredSize ?? 0) <= 0) end()
          }
          this.#streams.add(end)
          const stop = start(write)
          const unwatch = revocations.add(admitted, end)
          const keepAlive = door.clock.every(KEEP_ALIVE_MS, () => write(': keep-alive\n\n'))
          keepAlive.hold(false)
          release = () => {
            this.#streams.delete(end)
            stop()
            unwatch()
            keepAlive.stop()
          }
        },
        cancel: () => release(),
      },
      { highWaterMark: MAX_BUFFERED, size: (chunk) => chunk.byteLength },
    )
  }
}
