import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { eventText } from './event-stream.ts'

const EVENT_STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }

/** The response to one request of a client: one body, or an event stream. */
export class HttpReply {
  readonly #response: ServerResponse
  readonly #closed = new AbortController()

  constructor(response: ServerResponse) {
    this.#response = response
    response.once('close', () => this.#closed.abort())
    response.on('error', () => {})
  }

  /** Aborts when the client disconnects or the response is complete. */
  get closed(): AbortSignal {
    return this.#closed.signal
  }

  get isStream(): boolean {
    return this.#response.headersSent
  }

  body(status: number, body: Buffer | string, headers: OutgoingHttpHeaders = {}): void {
    if (this.#closed.signal.aborted) return
    this.#response.writeHead(status, headers).end(body)
  }

  json(status: number, text: string, headers: OutgoingHttpHeaders = {}): void {
    this.body(status, text, { ...headers, 'content-type': 'application/json' })
  }

  begin(status = 200, headers: OutgoingHttpHeaders = EVENT_STREAM): void {
    if (this.isStream || this.#closed.signal.aborted) return
    this.#response.writeHead(status, headers)
    this.#response.flushHeaders()
  }

  /** Sends an event of our own. */
  event(data: string): void {
    this.begin()
    if (!this.#closed.signal.aborted) this.#response.write(eventText(data))
  }

  /** Resolves when the client can take more. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#closed.signal.aborted || this.#response.write(bytes)) return
    await new Promise<void>((resolve) => {
      const resume = () => {
        this.#response.off('drain', resume)
        this.#closed.signal.removeEventListener('abort', resume)
        resolve()
      }
      this.#response.once('drain', resume)
      this.#closed.signal.addEventListener('abort', resume)
    })
  }

  end(): void {
    this.#response.end()
  }
}
