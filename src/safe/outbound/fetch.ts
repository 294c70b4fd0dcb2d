import type { Agent, RequestInit as UndiciInit } from 'undici'
import type { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { loadUndici } from './load-undici.ts'
import { type BlockReason, readUrl } from './rules/url.ts'

interface FetchGuard {
  readonly maxBytes: number
  readonly failed: (thrown: unknown, url: URL, signal: AbortSignal) => HookError
  readonly refuse: (url: string, reason: BlockReason) => void
}

const never = new AbortController().signal

/** A `fetch` through our agent, whose connector checks every address. */
export function guardedFetch(getAgent: () => Agent, guard: FetchGuard): typeof globalThis.fetch {
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined
    const text = request?.url ?? String(input)
    const url = readUrl(text, (reason) => guard.refuse(text, reason))
    // The compiler's library and undici declare the same web types separately.
    const asked = { ...(request === undefined ? {} : requestInit(request)), ...init } as unknown as UndiciInit
    try {
      const answer = await loadUndici().fetch(url, { ...asked, dispatcher: getAgent(), redirect: 'manual' })
      const { status, statusText, headers } = answer
      if (status >= 300 && status < 400) {
        await answer.body?.cancel()
        throw handlerError('outbound.redirect', `${url.host} answered ${status}, a redirect`)
      }
      const stream = answer.body as ReadableStream<Uint8Array> | null
      const body =
        stream?.pipeThrough(limitBytes(guard.maxBytes) as ReadableWritablePair<Uint8Array<ArrayBuffer>>) ??
        null
      return new Response(body, { status, statusText, headers: [...headers] })
    } catch (thrown) {
      throw guard.failed(thrown, url, asked.signal ?? never)
    }
  }
}

/** undici does not accept a request of the global class. */
function requestInit({ method, headers, body, signal }: Request): object {
  return { method, headers: [...headers], signal, ...(body === null ? {} : { body, duplex: 'half' }) }
}

/** Fails after `max` bytes. */
function limitBytes(max: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.byteLength
      if (size > max) throw handlerError('outbound.too_large', `the answer has more than ${max} bytes`)
      controller.enqueue(chunk)
    },
  })
}
