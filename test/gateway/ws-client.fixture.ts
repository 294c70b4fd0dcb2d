import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'

interface Frame {
  readonly type: string
  readonly id?: unknown
  readonly ok?: boolean
  readonly event?: string
  readonly payload?: unknown
  readonly cursor?: string
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly details: { readonly code: string }
  }
}

/** A WebSocket whose frames can be waited for one by one. */
export interface WsClient {
  readonly ws: WebSocket
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  send(frame: unknown): void
  next(): Promise<Frame>
  call(method: string, params?: unknown): Promise<Frame>
}

export async function openWs(url: string, token: string, query = ''): Promise<WsClient> {
  const ws = new WebSocket(`${url.replace('http', 'ws')}/ws${query}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const frames: Frame[] = []
  let wake = () => {}
  ws.on('message', (data) => {
    frames.push(JSON.parse(String(data)) as Frame)
    wake()
  })
  ws.on('error', () => {})
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    ws.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
  await new Promise((resolve, reject) => ws.on('open', resolve).on('error', reject))
  onTestFinished(() => ws.terminate())
  let calls = 0
  const next = async (): Promise<Frame> => {
    while (frames.length === 0) await new Promise<void>((resolve) => (wake = resolve))
    return frames.shift() as Frame
  }
  const send = (frame: unknown) => ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  return {
    ws,
    closed,
    send,
    next,
    async call(method, params) {
      calls += 1
      send({ type: 'req', id: `call-${calls}`, method, params })
      return next()
    },
  }
}
