import { connect, type Socket } from 'node:net'
import { isRecord } from '../engine/core/check.ts'
import { decodeUtf8, parseJson } from '../safe/json.ts'
import { LineSplitter } from '../safe/line-splitter.ts'
import { type Deadline, type Patience, startDeadline } from './deadline.ts'
import { errorOf, unreachable } from './wire-error.ts'

/** One answer line. */
export interface LineAnswer {
  readonly event_id?: unknown
  readonly decision?: unknown
}

interface Waiting {
  readonly deadline: Deadline
  resolve(answer: LineAnswer): void
  reject(error: unknown): void
}

/** Decisions carry patches and traces, which may be larger than what a request may be. */
const MAX_LINE = 64 * 1_048_576
const LIMITS = { maxBytes: MAX_LINE, maxKeys: 1_000_000, maxDepth: 256 } as const

/** JSON lines on the unix socket. The connection is made with the first request, and anew after it was lost. */
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

  /** What was sent and not answered when the connection is lost fails: nobody knows whether it was decided. */
  send(request: object, patience: Patience): Promise<LineAnswer> {
    return new Promise((resolve, reject) => {
      this.#lastId += 1
      const id = this.#lastId
      const line = `${JSON.stringify({ ...request, id })}\n`
      const deadline = startDeadline(patience)
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
    this.#refuseAll(unreachable(this.#path, failure))
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
    // An error about the connection itself, which ends with it.
    if (id === null) return this.#refuseAll(errorOf(error))
    if (typeof id !== 'number') return
    if (typeof until_ms === 'number') return this.#waiting.get(id)?.deadline.extend(until_ms)
    const waiting = this.#settle(id)
    if (error === undefined) waiting?.resolve(answer)
    else waiting?.reject(errorOf(error))
  }

  #refuseAll(error: Error): void {
    for (const id of [...this.#waiting.keys()]) this.#settle(id)?.reject(error)
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return undefined
    waiting.deadline.clear()
    this.#waiting.delete(id)
    // An idle connection keeps nobody's program alive.
    if (this.#waiting.size === 0) this.#socket?.unref()
    return waiting
  }
}
