import type { Agent, RequestInit as Asked } from 'undici'
import { HookError } from '../../engine/core/error.ts'
import { type BlockReason, readUrl } from './rules/url.ts'

interface Guard {
  readonly maxBytes: number
  readonly failed: (thrown: unknown, url: URL, signal: AbortSignal) => HookError
  readonly refuse: (url: string, reason: BlockReason) => void
}

const never = new AbortController().signal

/** `fetch` through our agent, whose connector checks every address. The global one has no such check. */
export function guardedFetch(openAgent: () => Promise<Agent>, guard: Guard): typeof globalThis.fetch {
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined
    const text = request?.url ?? String(input)
    const url = readUrl(text, (reason) => guard.refuse(text, reason))
    // The web's types are declared twice, by the compiler's library and by undici, and differ in nothing used here.
    const asked = { ...(request === undefined ? {} : parts(request)), ...init } as unknown as Asked
    try {
      const [undici, dispatcher] = await Promise.all([import('undici'), openAgent()])
      const answer = await undici.fetch(url, { ...asked, dispatcher, redirect: 'manual' })
      const { status, statusText, headers } = answer
      if (status >= 300 && status < 400) {
        await answer.body?.cancel()
        throw new HookError('outbound.redirect', `${url.host} answered ${status}, a redirect`)
      }
      const body = answer.body?.pipeThrough(atMost(guard.maxBytes)) ?? null
      return new Response(body, { status, statusText, headers: [...headers] })
    } catch (thrown) {
      throw guard.failed(thrown, url, asked.signal ?? never)
    }
  }
}

/** A request of the global class is unknown to undici's own. */
function parts({ method, headers, body, signal }: Request): object {
  return { method, headers: [...headers], signal, ...(body === null ? {} : { body, duplex: 'half' }) }
}

/** Passes so many bytes on and then fails. */
function atMost(max: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.byteLength
      if (size > max) throw new HookError('outbound.too_large', `the answer has more than ${max} bytes`)
      controller.enqueue(chunk)
    },
  })
}
