import type { WebSocket } from 'ws'
import type { AdmittedCaller } from '../../../access/tokens.ts'
import type { HookError } from '../../../engine/core/errors/error.ts'
import { tooSoon } from '../../../engine/core/time/retry-after.ts'
import type { SubscriptionMethod } from '../../../methods/method.ts'
import { callerWait } from '../../../pipeline/caller-wait.ts'
import { callMethod, requireMethod } from '../call-method.ts'
import { readDispatchRequest } from '../dispatch-request.ts'
import type { Door } from '../door.ts'
import { errorReply } from '../http/error-reply.ts'
import {
  errorFrame,
  eventFrame,
  type FrameId,
  type RequestFrame,
  readFrame,
  resultFrame,
  WS_PROTOCOL,
} from './ws-frames.ts'
import { WsSubscriptions } from './ws-subscriptions.ts'

const MAX_IN_FLIGHT = 64
const MAX_QUEUE = 256
const MAX_BAD_FRAMES = 20
const MAX_BUFFERED = 4 * 1_048_576
const BUSY_MS = 100

/** Close codes of RFC 6455 with their reasons. */
export const wsCloseReasons = {
  stopping: [1001, 'the gateway is stopping'],
  revoked: [1008, 'the token is no longer valid'],
  unreadable: [1008, 'too many unreadable frames'],
  slow: [1013, 'the client reads too slowly; resume from the last cursor'],
} as const

/** The caller of a connection, and the address that it came from. */
interface ConnectedCaller extends AdmittedCaller {
  readonly address: string | undefined
}

/** One WebSocket. It runs a bounded number of requests at a time and replies in the order in which they finish. */
export class WsConnection {
  readonly #admitted: ConnectedCaller
  readonly #ws: WebSocket
  readonly #door: Door
  readonly #closed = new AbortController()
  readonly #queue: RequestFrame[] = []
  readonly #subscriptions: WsSubscriptions
  /** Subscriptions by the method that ends them. */
  readonly #endedBy: ReadonlyMap<string, SubscriptionMethod>
  #inFlight = 0
  #badFrames = 0
  #stopping = false
  #quiet = true
  #pinged = false

  constructor(ws: WebSocket, admitted: ConnectedCaller, door: Door) {
    this.#ws = ws
    this.#admitted = admitted
    this.#door = door
    this.#subscriptions = new WsSubscriptions(door, admitted.caller, (frame) => this.#send(frame))
    const rows = [...door.methods.values()]
    this.#endedBy = new Map(rows.flatMap((row) => (row.kind === 'call' ? [] : [[row.endedBy, row] as const])))
    ws.on('message', (data, isBinary) => {
      this.#quiet = false
      if (Buffer.isBuffer(data)) this.#receive(data, isBinary)
    })
    ws.on('pong', () => {
      this.#quiet = false
    })
    // A socket error also closes the socket.
    ws.on('error', () => {})
    ws.once('close', () => {
      this.#queue.length = 0
      this.#subscriptions.close()
      this.#closed.abort()
    })
    this.#send(eventFrame('hello', this.#hello()))
  }

  close([code, reason]: readonly [number, string]): void {
    this.#subscriptions.close()
    this.#ws.close(code, reason)
  }

  /** Refuses new requests and closes after the last reply. */
  end(): void {
    this.#stopping = true
    if (this.#inFlight === 0) this.close(wsCloseReasons.stopping)
  }

  terminate(): void {
    this.#ws.terminate()
  }

  /** Terminates the connection if the client has sent nothing since the last ping; otherwise pings it. */
  ping(): void {
    if (this.#quiet && this.#pinged) this.#ws.terminate()
    else this.#ws.ping()
    this.#pinged = true
    this.#quiet = true
  }

  #hello(): unknown {
    const { parts, methods } = this.#door
    return {
      protocol: WS_PROTOCOL,
      server: 'hookhelm',
      version: parts.version,
      methods: ['dispatch', ...this.#endedBy.keys(), ...methods.keys()],
    }
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const frame = readFrame(data, isBinary)
    if ('error' in frame) return this.#bad(frame.id, frame.error)
    if (this.#stopping)
      return this.#refuse(frame.id, tooSoon('gateway.stopping', 'the gateway is stopping', BUSY_MS))
    if (this.#inFlight < MAX_IN_FLIGHT) return this.#begin(frame)
    if (this.#queue.length < MAX_QUEUE) this.#queue.push(frame)
    else
      this.#refuse(
        frame.id,
        tooSoon('gateway.busy', 'too many requests are queued on this connection', BUSY_MS),
      )
  }

  #bad(id: FrameId, error: HookError): void {
    this.#refuse(id, error)
    this.#badFrames += 1
    if (this.#badFrames > MAX_BAD_FRAMES) this.close(wsCloseReasons.unreadable)
  }

  #begin(frame: RequestFrame): void {
    this.#inFlight += 1
    this.#run(frame).then(
      (payload) => this.#settle(resultFrame(frame.id, payload)),
      (thrown: unknown) => this.#settle(this.#errorFrame(frame.id, thrown)),
    )
  }

  #settle(frame: string): void {
    this.#inFlight -= 1
    this.#send(frame)
    this.#subscriptions.startPrepared()
    const next = this.#queue.shift()
    if (next !== undefined) this.#begin(next)
    else if (this.#stopping && this.#inFlight === 0) this.close(wsCloseReasons.stopping)
  }

  async #run({ method, params }: RequestFrame): Promise<string> {
    if (method === 'dispatch') return this.#dispatch(params)
    if (method === 'connect') return JSON.stringify(this.#hello())
    return JSON.stringify((await this.#call(method, params)) ?? null)
  }

  async #call(method: string, params: unknown): Promise<unknown> {
    const ended = this.#endedBy.get(method)
    if (ended !== undefined) return this.#subscriptions.end(ended, params)
    const { parts, methods } = this.#door
    const row = requireMethod(methods, method)
    if (row.kind === 'subscription') return this.#subscriptions.open(row, params)
    const { caller, address } = this.#admitted
    return callMethod(row, params, { caller, parts, address })
  }

  async #dispatch(params: unknown): Promise<string> {
    const { capacity, dispatcher } = this.#door
    const { caller } = this.#admitted
    capacity.check(caller.tenant)
    const request = readDispatchRequest(params)
    const leave = capacity.enter()
    try {
      const context = { signal: this.#closed.signal, ...callerWait(request.within_ms, false, leave) }
      return (await dispatcher.dispatch(caller, request, context)).json
    } finally {
      leave()
    }
  }

  #errorFrame(id: FrameId, thrown: unknown): string {
    return errorFrame(id, errorReply(thrown, this.#door.log).body)
  }

  #refuse(id: FrameId, error: HookError): void {
    this.#send(this.#errorFrame(id, error))
  }

  #send(frame: string): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return
    this.#ws.send(frame)
    // A client that does not read would fill our memory.
    if (this.#ws.bufferedAmount > MAX_BUFFERED) this.close(wsCloseReasons.slow)
  }
}
