import { WebSocket } from 'ws'
import { after } from '../engine/core/after.ts'
import { isRecord } from '../engine/core/check.ts'
import type { Clock } from '../engine/core/clock.ts'
import { parseJson } from '../safe/json.ts'
import { errorFromWire } from './wire-error.ts'

export interface ClientTailOptions {
  readonly url: string
  readonly token: string | undefined
  readonly tenant: string | undefined
  readonly clock: Clock
  /** Continue after this cursor. If omitted, start with the next execution. */
  readonly cursor?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** One execution, and the cursor that continues after it. */
export interface TailedExecution<Execution> {
  readonly execution: Execution
  readonly cursor: string
}

interface Feed {
  /** Undefined when the connection ended. */
  next(): Promise<unknown>
  close(): void
}

const LEAST_WAIT_MS = 250
const MOST_WAIT_MS = 10_000

/**
 * Executions as they happen, until the signal is aborted. A lost connection is made again and goes on from the last
 * cursor; rows around the loss may come twice, none is left out.
 */
export async function* tailExecutions<Execution>(
  options: ClientTailOptions,
  isExecution: (value: unknown) => value is Execution,
): AsyncGenerator<TailedExecution<Execution>> {
  const { clock, signal } = options
  let cursor = options.cursor
  let wait = LEAST_WAIT_MS
  while (!signal?.aborted) {
    const feed = openFeed(options, cursor)
    const stop = () => feed.close()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      for (let frame = await feed.next(); frame !== undefined; frame = await feed.next()) {
        const answered = cursorOfAnswer(frame)
        if (answered !== undefined) {
          cursor ??= answered
          wait = LEAST_WAIT_MS
        }
        if (!isRecord(frame) || frame.event !== 'execution' || !isExecution(frame.payload)) continue
        cursor = String(frame.cursor)
        yield { execution: frame.payload, cursor }
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      feed.close()
    }
    if (signal?.aborted) return
    await pause(clock, wait, signal)
    wait = Math.min(wait * 2, MOST_WAIT_MS)
  }
}

/** The cursor in the answer to the subscription. Throws if the gateway refused it. */
function cursorOfAnswer(frame: unknown): string | undefined {
  if (!isRecord(frame) || frame.type !== 'res') return undefined
  if (frame.ok !== true) throw errorFromWire(frame.error)
  return isRecord(frame.payload) ? String(frame.payload.cursor) : undefined
}

function openFeed({ url, token, tenant }: ClientTailOptions, cursor: string | undefined): Feed {
  const ws = new WebSocket(`${url.replace(/^http/, 'ws').replace(/\/$/, '')}/ws`, {
    perMessageDeflate: false,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(tenant === undefined ? {} : { 'x-hookhelm-tenant': tenant }),
    },
  })
  const frames: unknown[] = []
  let ended = false
  let refusal: Error | undefined
  let wake = () => {}
  const push = (frame: unknown) => {
    frames.push(frame)
    wake()
  }
  ws.on('open', () => {
    const params = cursor === undefined ? {} : { cursor }
    ws.send(JSON.stringify({ type: 'req', id: 'tail', method: 'executions.tail', params }))
  })
  ws.on('message', (data) => {
    try {
      push(parseJson(String(data)))
    } catch {
      // Not JSON: reconnect, and continue at the cursor.
      ws.terminate()
    }
  })
  ws.on('unexpected-response', (_, response) => {
    // A wrong token stays wrong; other refusals may be temporary.
    if (response.statusCode === 401 || response.statusCode === 403)
      refusal = errorFromWire({ message: 'the gateway refused the token', code: 'auth.token' })
    ws.terminate()
  })
  ws.on('error', () => {})
  ws.on('close', () => {
    ended = true
    wake()
  })
  return {
    async next() {
      while (frames.length === 0 && !ended) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      if (frames.length > 0) return frames.shift()
      if (refusal !== undefined) throw refusal
      return undefined
    },
    close: () => ws.terminate(),
  }
}

function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const cancelTimeout = after(clock, ms, resolve)
    signal?.addEventListener('abort', () => {
      cancelTimeout()
      resolve()
    })
  })
}
