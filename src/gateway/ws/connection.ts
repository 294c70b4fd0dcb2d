import type { WebSocket } from 'ws'
import type { HookError } from '../../engine/core/error.ts'
import { tooSoon } from '../../engine/core/retry-after.ts'
import type { Admitted } from '../auth/tokens.ts'
import { callMethod, findMethod } from '../call-method.ts'
import { readDispatchRequest } from '../dispatch-request.ts'
import type { Door } from '../door.ts'
import { errorAnswer } from '../server/error-answers.ts'
import {
  answerFrame,
  errorFrame,
  eventFrame,
  type FrameId,
  PROTOCOL,
  type RequestFrame,
  readFrame,
} from './frames.ts'
import { Subscriptions } from './subscriptions.ts'

const MAX_IN_FLIGHT = 64
const MAX_QUEUE = 256
const MAX_BAD_FRAMES = 20
const MAX_BUFFERED = 4 * 1_048_576
const BUSY_MS = 100

/** Everything there is to say about closing, by the number of RFC 6455. */
export const closings = {
  stopping: [1001, 'the gateway is ending'],
  notAllowed: [1008, 'the token is no longer valid'],
  garbage: [1008, 'too many frames that nobody can read'],
  slow: [1013, 'frames are read too slowly; go on from the last cursor'],
} as const

/** One WebSocket: requests are answered as they finish, a bounded number at a time. */
export class Connection {
  readonly admitted: Admitted
  readonly #ws: WebSocket
  readonly #door: Door
  readonly #gone = new AbortController()
  readonly #queue: RequestFrame[] = []
  readonly #subscriptions: Subscriptions
  #inFlight = 0
  #badFrames = 0
  #stopping = false
  #quiet = true
  #pinged = false

  constructor(ws: WebSocket, admitted: Admitted, door: Door) {
    this.#ws = ws
    this.admitted = admitted
    this.#door = door
    this.#subscriptions = new Subscriptions(door, admitted.caller, (frame) => this.#send(frame))
    ws.on('message', (data, isBinary) => {
      this.#quiet = false
      if (Buffer.isBuffer(data)) this.#receive(data, isBinary)
    })
    ws.on('pong', () => {
      this.#quiet = false
    })
    // What goes wrong on the wire closes the socket anyway, with its own code.
    ws.on('error', () => {})
    ws.once('close', () => {
      this.#queue.length = 0
      this.#subscriptions.close()
      this.#gone.abort()
    })
    this.#send(eventFrame('hello', this.#hello()))
  }

  close([code, reason]: readonly [number, string]): void {
    this.#subscriptions.close()
    this.#ws.close(code, reason)
  }

  /** Answers what is under way, then closes; nothing new is taken. */
  end(): void {
    this.#stopping = true
    if (this.#inFlight === 0) this.close(closings.stopping)
  }

  terminate(): void {
    this.#ws.terminate()
  }

  /** Asks whether anybody is there; who did not answer the last time is not. */
  ping(): void {
    if (this.#quiet && this.#pinged) this.#ws.terminate()
    else this.#ws.ping()
    this.#pinged = true
    this.#quiet = true
  }

  #hello(): unknown {
    const { parts, methods } = this.#door
    const own = ['dispatch', 'executions.untail']
    return {
      protocol: PROTOCOL,
      server: 'hookhelm',
      version: parts.version,
      methods: [...own, ...methods.keys()],
    }
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const frame = readFrame(data, isBinary)
    if ('error' in frame) return this.#bad(frame.id, frame.error)
    if (this.#stopping)
      return this.#refuse(frame.id, tooSoon('gateway.stopping', 'the gateway is ending', BUSY_MS))
    if (this.#inFlight < MAX_IN_FLIGHT) return this.#begin(frame)
    if (this.#queue.length < MAX_QUEUE) this.#queue.push(frame)
    else this.#refuse(frame.id, tooSoon('gateway.busy', 'too many requests wait on this connection', BUSY_MS))
  }

  #bad(id: FrameId, error: HookError): void {
    this.#refuse(id, error)
    this.#badFrames += 1
    if (this.#badFrames > MAX_BAD_FRAMES) this.close(closings.garbage)
  }

  #begin(frame: RequestFrame): void {
    this.#inFlight += 1
    this.#run(frame).then(
      (payload) => this.#settle(answerFrame(frame.id, payload)),
      (thrown: unknown) => this.#settle(this.#errorFrame(frame.id, thrown)),
    )
  }

  #settle(frame: string): void {
    this.#inFlight -= 1
    this.#send(frame)
    this.#subscriptions.begin()
    const next = this.#queue.shift()
    if (next !== undefined) this.#begin(next)
    else if (this.#stopping && this.#inFlight === 0) this.close(closings.stopping)
  }

  async #run({ method, params }: RequestFrame): Promise<string> {
    if (method === 'dispatch') return this.#dispatch(params)
    if (method === 'connect') return JSON.stringify(this.#hello())
    const { caller } = this.admitted
    const { parts, methods } = this.#door
    const live = this.#subscriptions.serves(method)
    const answer = live
      ? await this.#subscriptions.run(method, params)
      : await callMethod(findMethod(methods, method), params, { caller, parts })
    return JSON.stringify(answer ?? null)
  }

  async #dispatch(params: unknown): Promise<string> {
    const { capacity, parts } = this.#door
    const { caller } = this.admitted
    capacity.check(caller.tenant)
    const request = readDispatchRequest(params)
    capacity.enter()
    try {
      const answer = await parts.dispatcher.dispatch(caller, request, { signal: this.#gone.signal })
      return answer.json
    } finally {
      capacity.leave()
    }
  }

  #errorFrame(id: FrameId, thrown: unknown): string {
    return errorFrame(id, errorAnswer(thrown, this.#door.parts.log).body)
  }

  #refuse(id: FrameId, error: HookError): void {
    this.#send(this.#errorFrame(id, error))
  }

  #send(frame: string): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return
    this.#ws.send(frame)
    // Whoever does not read would make us keep everything for them.
    if (this.#ws.bufferedAmount > MAX_BUFFERED) this.close(closings.slow)
  }
}
