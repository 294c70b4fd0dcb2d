import { connect, type Socket } from 'node:net'
import { isRecord } from '../engine/core/check.ts'
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
  readonly deadline: RunningDeadline
  resolve(answer: LineAnswer): void
  reject(error: unknown): void
}

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
    this.#hello = `${JSON.stringify({ hookhelm: 1, token })}\n`
  }

  /** Rejects if the connection is lost before the answer, because the gateway may or may not have decided. */
  send(request: object, deadlineOptions: CallDeadline): Promise<LineAnswer> {
    return new Promise((resolve, reject) => {
      this.#lastId += 1
      const id = this.#lastId
      const line = `${JSON.stringify({ ...request, id })}\n`
      const deadline = startDeadline(deadlineOptions)
      if (deadline.signal.aborted) {
        deadline.clear()
        return reject(deadline.signal.reason)
      }
      deadline.signal.addEventListener('abort', () => this.#settle(id)?.reject(deadline.signal.reason))
      this.#waiting.set(id, { deadline, resolve, reject })
      const socket = this.#connected()
      socket.ref()
      socket.write(line)
    })
  }

  close(): void {
    this.#socket?.destroy()
    this.#lose(this.#socket, undefined)
  }

  #connected(): Socket {
    if (this.#socket !== undefined) return this.#socket
    const socket = connect({ path: this.#path, noDelay: true })
    const lines = new LineSplitter(MAX_LINE)
    socket.on('data', (chunk: Buffer) => {
      if (!lines.push(chunk, (line) => this.#take(line))) socket.destroy()
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
    this.#refuseAll(unreachableGateway(this.#path, failure))
  }

  #take(line: Buffer): void {
    let answer: unknown
    try {
      answer = parseJson(decodeUtf8(line), LIMITS)
    } catch (thrown) {
      this.#socket?.destroy(thrown instanceof Error ? thrown : undefined)
      return
    }
    if (!isRecord(answer)) return
    const { id, error, until_ms } = answer
    // The error concerns the connection, and the gateway closes it.
    if (id === null) return this.#refuseAll(errorFromWire(error))
    if (typeof id !== 'number') return
    if (typeof until_ms === 'number') return this.#waiting.get(id)?.deadline.extend(until_ms)
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
