import type { ClientRequestArgs } from 'node:http'
import { Socket as NetSocket } from 'node:net'
import type { WebSocket } from 'ws'
import { isHookError } from '../engine/core/errors/error.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { pause } from '../engine/core/time/after.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import { parseJson } from '../safe/json.ts'
import { connectProven } from './proven-connection.ts'
import { errorFromWire } from './wire-error.ts'

export interface SubscribeOptions {
  /** The subscription method. */
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly url: string
  readonly token: string | undefined
  readonly tenant: string | undefined
  readonly proven: boolean
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
}

/** One item of a subscription, and the cursor to resume after it. */
export interface SubscriptionItem<Item> {
  readonly item: Item
  readonly cursor: string
}

interface Feed {
  /** Resolves with undefined when the connection has ended. */
  next(): Promise<unknown>
  close(): void
}

const MIN_WAIT_MS = 250
const MAX_WAIT_MS = 10_000

/**
 * Yields items until the signal is aborted. After a lost connection it reconnects and resumes from the last cursor: items
 * around the loss may arrive twice, none is missed.
 */
export async function* subscribe(options: SubscribeOptions): AsyncGenerator<SubscriptionItem<unknown>> {
  // Most programs only call methods and never need it.
  const { WebSocket: Socket } = await import('ws')
  const { clock, signal, params } = options
  let cursor = typeof params.cursor === 'string' ? params.cursor : undefined
  let wait = MIN_WAIT_MS
  while (!signal?.aborted) {
    const feed = openFeed(Socket, options, cursor)
    let subscription: unknown
    const stop = () => feed.close()
    signal?.addEventListener('abort', stop, { once: true })
    try {
      for (let frame = await feed.next(); frame !== undefined; frame = await feed.next()) {
        const opened = readReply(frame)
        if (opened !== undefined) {
          subscription = opened.subscription
          cursor ??= String(opened.cursor)
          wait = MIN_WAIT_MS
        }
        if (!isRecord(frame) || frame.type !== 'event' || subscription === undefined) continue
        if (frame.subscription !== subscription) continue
        cursor = String(frame.cursor)
        yield { item: frame.payload, cursor }
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      feed.close()
    }
    if (signal?.aborted) return
    await pause(clock, wait, signal).catch(() => {})
    wait = Math.min(wait * 2, MAX_WAIT_MS)
  }
}

/** Reads the reply to the one request of the connection; throws if the gateway refused it. */
function readReply(frame: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(frame) || frame.type !== 'res') return undefined
  if (frame.ok !== true) throw errorFromWire(frame.error)
  return isRecord(frame.payload) ? frame.payload : undefined
}

function openFeed(Socket: typeof WebSocket, options: SubscribeOptions, cursor: string | undefined): Feed {
  const { url, token, tenant, proven, method } = options
  const ws = new Socket(`${url.replace(/^http/, 'ws').replace(/\/$/, '')}/ws`, {
    perMessageDeflate: false,
    ...(proven && token !== undefined ? { createConnection: provenConnection(url, token) } : {}),
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
    const params = cursor === undefined ? options.params : { ...options.params, cursor }
    ws.send(JSON.stringify({ type: 'req', id: 'subscribe', method, params }))
  })
  ws.on('message', (data) => {
    try {
      push(parseJson(String(data)))
    } catch {
      // Not a frame of a working gateway: reconnect and resume from the cursor.
      ws.terminate()
    }
  })
  ws.on('unexpected-response', (_, response) => {
    // An invalid token stays invalid; other refusals may be temporary.
    if (response.statusCode === 401 || response.statusCode === 403)
      refusal = errorFromWire({ message: 'the gateway rejects the token', code: 'auth.token' })
    ws.terminate()
  })
  ws.on('error', (error) => {
    if (isHookError(error)) refusal = error
  })
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

function provenConnection(url: string, token: string): ClientRequestArgs['createConnection'] {
  return (_, callback) => {
    connectProven(url, token).then(
      (socket) => callback(null, socket),
      // With an error, node:http does not look at the socket.
      (thrown) => callback(thrown, new NetSocket()),
    )
    return undefined
  }
}
