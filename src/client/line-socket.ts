import { connect, type Socket } from 'node:net'
import { isHookError } from '../engine/core/errors/error.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { after } from '../engine/core/time/after.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import { decodeUtf8, parseJson } from '../safe/json.ts'
import { LineSplitter } from '../safe/line-splitter.ts'
import { type CallDeadline, type RunningDeadline, startDeadline } from './deadline.ts'
import { errorFromWire, unreachableGateway } from './wire-error.ts'

/** One answer line. */
export interface LineAnswer {
  readonly event_id?: unknown
  readonly decision?: unknown
}

interface Waiting {
  readonly request: HeldRequest
  readonly deadline: RunningDeadline
  /** Until when the caller waits for a person at most: milliseconds since 1970. */
  readonly latestMs: number
  readonly clock: Clock
  /** The approval that the call waits for, once a person is being asked. */
  approvalId?: string
  resolve(answer: LineAnswer): void
  reject(error: unknown): void
}

interface HeldRequest {
  readonly event: string
  /** How long the caller can wait for a person. */
  readonly within_ms?: number
}

/** Errors of a gateway that can answer soon. */
const TEMPORARY: readonly unknown[] = ['gateway.stopping', 'gateway.busy', 'gateway.rate_limited']
/** The gateway reports that the time of a person is over; the client gives that line this long to arrive. */
const REPORT_MS = 1_000
/** Between two attempts to reach a gateway that restarts. */
const RETRY_MS = 100

/** Decisions carry changed inputs and traces, so answers may be larger than requests. */
const MAX_LINE = 64 * 1_048_576
const LIMITS = { maxBytes: MAX_LINE, maxKeys: 1_000_000, maxDepth: 256 } as const

/** JSON lines over the unix socket. Connects with the first request, and again after the connection was lost. */
export class LineSocket {
  readonly #path: string
  readonly #hello: string
  readonly #waiting = new Map<number, Waiting>()
  #socket: Socket | undefined
  #lastId = 0

  constructor(path: string, token: string | undefined) {
    this.#path = path
    this.#hello = `${JSON.stringify({ hookhelm: 1, token, pid: process.pid })}\n`
  }

  /**
   * Rejects if the connection is lost before the answer, because the gateway may or may not have decided. A call that waits
   * for a person is sent again instead, until its time is over: the gateway knows it by its approval.
   */
  send(request: HeldRequest, deadlineOptions: CallDeadline): Promise<LineAnswer> {
    return new Promise((resolve, reject) => {
      this.#lastId += 1
      const id = this.#lastId
      const { clock } = deadlineOptions
      const latestMs = clock.now() + (request.within_ms ?? 0)
      const deadline = startDeadline(deadlineOptions)
      if (deadline.signal.aborted) {
        deadline.clear()
        return reject(deadline.signal.reason)
      }
      deadline.signal.addEventListener('abort', () => this.#giveUp(id, deadline.signal.reason))
      this.#waiting.set(id, { request, deadline, latestMs, clock, resolve, reject })
      this.#write({ ...request, id })
    })
  }

  #write(request: object): void {
    const socket = this.#connected()
    socket.ref()
    socket.write(`${JSON.stringify(request)}\n`)
  }

  /** A caller that leaves withdraws its question. One whose time is over does not: the same call may come again. */
  #giveUp(id: number, reason: unknown): void {
    const waiting = this.#settle(id)
    if (isHookError(reason) && reason.code === 'engine.aborted') this.#cancel(id)
    waiting?.reject(reason)
  }

  #cancel(id: number): void {
    this.#socket?.write(`${JSON.stringify({ id, cancel: true })}\n`)
  }

  /** After a pause, in which a gateway may have restarted. */
  #sendAgain(id: number, clock: Clock): void {
    after(clock, RETRY_MS, () => {
      const waiting = this.#waiting.get(id)
      if (waiting === undefined) return
      const { request, deadline, approvalId } = waiting
      const within_ms = Math.max(1, Math.floor(deadline.leftMs - REPORT_MS))
      this.#write({ ...request, within_ms, approval_id: approvalId, id })
    })
  }

  close(): void {
    const socket = this.#socket
    this.#socket = undefined
    socket?.destroy()
    this.#refuseAll(unreachableGateway(this.#path, undefined))
  }

  #connected(): Socket {
    if (this.#socket !== undefined) return this.#socket
    const socket = connect({ path: this.#path, noDelay: true })
    const lines = new LineSplitter(MAX_LINE)
    socket.on('data', (chunk: Buffer) => {
      if (lines.push(chunk, (line) => this.#take(line))) return
      this.#refuseAll(unreachableGateway(this.#path))
      socket.destroy()
    })
    let failure: unknown
    socket.on('error', (error) => {
      failure = error
    })
    socket.once('close', () => this.#lose(socket, failure))
    socket.write(this.#hello)
    this.#socket = socket
    return socket
  }

  #lose(socket: Socket | undefined, failure: unknown): void {
    if (this.#socket !== socket) return
    this.#socket = undefined
    for (const [id, { approvalId, clock, reject }] of [...this.#waiting]) {
      if (approvalId !== undefined) this.#sendAgain(id, clock)
      else if (this.#settle(id)) reject(unreachableGateway(this.#path, failure))
    }
  }

  #take(line: Buffer): void {
    let answer: unknown
    try {
      answer = parseJson(decodeUtf8(line), LIMITS)
    } catch (thrown) {
      // What sends this is no gateway, so no call waits for it.
      this.#refuseAll(unreachableGateway(this.#path, thrown))
      this.#socket?.destroy()
      return
    }
    if (!isRecord(answer)) return
    const { id, error, until_ms, pending } = answer
    // The error concerns the connection, and the gateway closes it.
    if (id === null) return this.#refuseAll(errorFromWire(error))
    if (typeof id !== 'number') return
    const open = this.#waiting.get(id)
    // The caller left while its question was on the way.
    if (open === undefined) return typeof until_ms === 'number' ? this.#cancel(id) : undefined
    if (typeof until_ms === 'number') {
      const [approvalId] = /apr_[0-9a-f]{16}$/.exec(String(pending)) ?? []
      if (approvalId !== undefined) open.approvalId ??= approvalId
      return open.deadline.extend(Math.min(until_ms + REPORT_MS, open.latestMs))
    }
    if (open.approvalId !== undefined && isRecord(error) && TEMPORARY.includes(error.code))
      return this.#sendAgain(id, open.clock)
    const waiting = this.#settle(id)
    if (error === undefined) waiting?.resolve(answer)
    else waiting?.reject(errorFromWire(error))
  }

  #refuseAll(error: Error): void {
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(error)
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return undefined
    waiting.deadline.clear()
    this.#waiting.delete(id)
    // An idle connection must not keep the process alive.
    if (this.#waiting.size === 0) this.#socket?.unref()
    return waiting
  }
}
