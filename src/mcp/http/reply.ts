import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { eventText } from './event-stream.ts'

const EVENT_STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }

/** The answer to one request of a client: one body, or a stream of events. */
export class HttpReply {
  readonly #response: ServerResponse
  readonly #left = new AbortController()

  constructor(response: ServerResponse) {
    this.#response = response
    response.once('close', () => this.#left.abort())
    response.on('error', () => {})
  }

  /** Aborted when the client is gone, or has everything. */
  get left(): AbortSignal {
    return this.#left.signal
  }

  get isStream(): boolean {
    return this.#response.headersSent
  }

  body(status: number, body: Buffer | string, headers: OutgoingHttpHeaders = {}): void {
    if (this.#left.signal.aborted) return
    this.#response.writeHead(status, headers).end(body)
  }

  json(status: number, text: string, headers: OutgoingHttpHeaders = {}): void {
    this.body(status, text, { ...headers, 'content-type': 'application/json' })
  }

  begin(status = 200, headers: OutgoingHttpHeaders = EVENT_STREAM): void {
    if (this.isStream || this.#left.signal.aborted) return
    this.#response.writeHead(status, headers)
    this.#response.flushHeaders()
  }

  /** An event of our own. */
  event(data: string): void {
    this.begin()
    if (!this.#left.signal.aborted) this.#response.write(eventText(data))
  }

  /** Waits until the client has read enough to be given more. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#left.signal.aborted || this.#response.write(bytes)) return
    await new Promise<void>((resolve) => {
      const go = () => {
        this.#response.off('drain', go)
        this.#left.signal.removeEventListener('abort', go)
        resolve()
      }
      this.#response.once('drain', go)
      this.#left.signal.addEventListener('abort', go)
    })
  }

  end(): void {
    this.#response.end()
  }
}
