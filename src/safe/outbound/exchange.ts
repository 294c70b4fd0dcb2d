import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import type { Agent, Dispatcher } from 'undici'
import type { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'

export interface OutboundRequest {
  readonly url: URL
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The deadline for name lookup, connection, request and answer together. */
  readonly signal: AbortSignal
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

export interface OutboundAnswer {
  /** Redirects are not followed. */
  readonly status: number
  readonly headers: ResponseHeaders
  readonly body: Buffer
}

/**
 * Sends one request and returns its whole answer. Uses `dispatch` instead of undici's `request`, which checks the signal
 * only once it is connected (a lookup or handshake may never end), and whose stream costs more than the answer.
 */
export function exchange(agent: Agent, request: OutboundRequest, max: number): Promise<OutboundAnswer> {
  const { url, method = 'POST', headers = {}, body = null, signal } = request
  const handler = new Exchange(max, signal)
  const path = url.pathname + url.search
  try {
    signal.throwIfAborted()
    agent.dispatch({ origin: url.origin, path, method, headers, body }, handler)
  } catch (thrown) {
    handler.fail(thrown)
  }
  return handler.answer
}

class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: ResponseHeaders = {}
  #body: ResponseBody | undefined
  #over = false
  readonly #max: number
  readonly #signal: AbortSignal
  readonly #settled = Promise.withResolvers<OutboundAnswer>()
  readonly answer = this.#settled.promise
  readonly #abort = () => this.fail(this.#signal.reason)

  constructor(max: number, signal: AbortSignal) {
    this.#max = max
    this.#signal = signal
    signal.addEventListener('abort', this.#abort)
  }

  fail(thrown: unknown): void {
    if (!this.#end()) return
    this.#settled.reject(thrown)
    this.#controller?.abort(thrown instanceof Error ? thrown : new Error('aborted'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#over) controller.abort(new Error('aborted'))
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    // Informational; the answer follows.
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    this.#attempt(() => {
      this.#body = new ResponseBody(this.#max, headers['content-length'])
    })
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#attempt(() => this.#body?.add(chunk))
  }

  onResponseEnd(): void {
    if (this.#end()) this.#settled.resolve(this.#readAnswer())
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

  async #readAnswer(): Promise<OutboundAnswer> {
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

type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const decoders: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
}

/** Collects a body, and throws as soon as it is too large. */
class ResponseBody {
  readonly #max: number
  readonly #chunks: Buffer[] = []
  #size = 0

  constructor(max: number, declared: unknown) {
    this.#max = max
    if (Number(declared ?? 0) > max) throw tooLarge(max)
  }

  add(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > this.#max) throw tooLarge(this.#max)
    this.#chunks.push(chunk)
  }

  /** The decoded body. The limit also bounds the decoded size, against decompression bombs. */
  bytes(contentEncoding: unknown): Buffer | Promise<Buffer> {
    const [first] = this.#chunks
    const bytes =
      first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#size)
    const encoding = String(contentEncoding ?? '')
      .trim()
      .toLowerCase()
    return encoding === '' || encoding === 'identity' ? bytes : decode(bytes, encoding, this.#max)
  }
}

async function decode(bytes: Buffer, encoding: string, max: number): Promise<Buffer> {
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined
  if (decoder === undefined)
    throw handlerError('outbound.decode', 'the answer has an unknown content encoding')
  // An empty body may still name an encoding.
  if (bytes.length === 0) return bytes
  try {
    return await decoder(bytes, { maxOutputLength: max })
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(max)
    throw handlerError('outbound.decode', 'the answer could not be decoded', { cause })
  }
}

function tooLarge(max: number): HookError {
  return handlerError('outbound.too_large', `the answer has more than ${max} bytes`)
}
