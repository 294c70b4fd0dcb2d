import type { Agent, Dispatcher } from 'undici'
import { Body } from './body.ts'

export interface OutboundRequest {
  readonly url: URL
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The one deadline over name, connection, request and answer. */
  readonly signal: AbortSignal
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface OutboundAnswer {
  /** Redirects are answers like any other: they are not followed. */
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
}

/**
 * One request and its whole answer. Below the client's own `request`, for two reasons: that one looks at the signal
 * only once it is connected, while a name or a handshake may take for ever; and a stream per answer costs more than
 * the answer.
 */
export function exchange(agent: Agent, request: OutboundRequest, max: number): Promise<OutboundAnswer> {
  return new Promise((resolve, reject) => {
    const { url, method = 'POST', headers = {}, body = null, signal } = request
    const conversation = new Conversation(max, signal, resolve, reject)
    if (signal.aborted) return conversation.fail(signal.reason)
    const path = url.pathname + url.search
    try {
      agent.dispatch({ origin: url.origin, path, method, headers, body }, conversation)
    } catch (thrown) {
      conversation.fail(thrown)
    }
  })
}

class Conversation implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: Headers = {}
  #body: Body | undefined
  #over = false
  readonly #max: number
  readonly #signal: AbortSignal
  readonly #resolve: (answer: OutboundAnswer | Promise<OutboundAnswer>) => void
  readonly #reject: (thrown: unknown) => void
  readonly #abort = () => this.fail(this.#signal.reason)

  constructor(
    max: number,
    signal: AbortSignal,
    resolve: (answer: OutboundAnswer | Promise<OutboundAnswer>) => void,
    reject: (thrown: unknown) => void,
  ) {
    this.#max = max
    this.#signal = signal
    this.#resolve = resolve
    this.#reject = reject
    signal.addEventListener('abort', this.#abort)
  }

  fail(thrown: unknown): void {
    if (!this.#end()) return
    this.#reject(thrown)
    this.#controller?.abort(thrown instanceof Error ? thrown : new Error('aborted'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#over) controller.abort(new Error('aborted'))
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // Hints that an answer will come.
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    this.#attempt(() => {
      this.#body = new Body(this.#max, headers['content-length'])
    })
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#attempt(() => this.#body?.add(chunk))
  }

  onResponseEnd(): void {
    if (!this.#end()) return
    this.#resolve(this.#answer())
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(error)
  }

  #attempt(step: () => void): void {
    try {
      step()
    } catch (thrown) {
      this.fail(thrown)
    }
  }

  async #answer(): Promise<OutboundAnswer> {
    const body = (await this.#body?.bytes(this.#headers['content-encoding'])) ?? Buffer.alloc(0)
    return { status: this.#status, headers: this.#headers, body }
  }

  #end(): boolean {
    if (this.#over) return false
    this.#over = true
    this.#signal.removeEventListener('abort', this.#abort)
    return true
  }
}
