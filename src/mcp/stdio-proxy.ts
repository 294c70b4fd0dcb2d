import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { LineSplitter } from '../safe/line-splitter.ts'
import { type PipedEnd, PipedProcess } from '../safe/process/piped-process.ts'
import { McpSession, type McpSessionOptions } from './mcp-session.ts'
import type { AdmittedPacket } from './messages/assemble-packet.ts'
import { MAX_MESSAGE_BYTES, readPacket, rpcCodes, rpcErrorText } from './messages/packet.ts'
import { isBlank } from './messages/scan-message.ts'

export interface StdioProxyOptions extends McpSessionOptions {
  /** The server: a program and its arguments. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly clientIn: Readable
  readonly clientOut: Writable
  /** Aborts when the process gets a signal. Everything ends at once. */
  readonly signal: AbortSignal
}

export interface ProxyEnd {
  /** The server's exit code, as a shell reports it. */
  readonly exitCode: number
  /** Why the server could not be started. */
  readonly refused?: string
}

/** Starts a server and passes messages between it and the client. Resolves when both have ended. */
export function runStdioProxy(options: StdioProxyOptions): Promise<ProxyEnd> {
  return new StdioProxy(options).run()
}

const CARRIAGE_RETURN = 0x0d
const NEWLINE = Buffer.from('\n')

class StdioProxy {
  readonly #options: StdioProxyOptions
  readonly #server: PipedProcess
  readonly #session: McpSession
  readonly #toClient: LineWriter
  readonly #toServer: LineWriter | undefined
  readonly #gone = new AbortController()
  /** Messages that wait for the hooks, in either direction. */
  readonly #pending = new Set<Promise<void>>()
  readonly #channel = {
    signal: this.#gone.signal,
    send: (text: string) => void this.#toClient.write(text),
    sendToServer: (text: string) => void this.#toServer?.write(text),
  }
  #isEnding = false

  constructor(options: StdioProxyOptions) {
    this.#options = options
    const { argv, cwd, env, clock } = options
    this.#server = new PipedProcess({ argv, cwd, env }, clock)
    this.#session = new McpSession(options)
    this.#toClient = new LineWriter(options.clientOut)
    this.#toServer = this.#server.stdin === undefined ? undefined : new LineWriter(this.#server.stdin)
  }

  async run(): Promise<ProxyEnd> {
    const { clientIn, signal } = this.#options
    this.#listenToClient()
    this.#listenToServer()
    signal.addEventListener('abort', this.#stop, { once: true })
    if (signal.aborted) this.#stop()
    const end = await this.#server.ended
    signal.removeEventListener('abort', this.#stop)
    clientIn.removeAllListeners('data').pause()
    // The server responds to nothing more, and it never saw the calls that still wait for the hooks.
    const why = `the server is gone: ${howItEnded(end)}`
    for (const id of this.#session.failPending(why))
      this.#toClient.write(rpcErrorText(id, rpcCodes.gone, why))
    await Promise.allSettled(this.#pending)
    this.#gone.abort()
    await this.#session.end('other')
    return this.#endOf(end)
  }

  #listenToClient(): void {
    const { clientIn, clientOut } = this.#options
    const lines = new LineSplitter(MAX_MESSAGE_BYTES)
    clientIn.on('data', (chunk: Buffer) => {
      if (lines.push(chunk, this.#fromClient)) return
      const why = `a message has more than ${MAX_MESSAGE_BYTES} bytes`
      this.#toClient.write(rpcErrorText(null, rpcCodes.invalid, why))
      this.#stop()
    })
    clientIn.once('end', () => void this.#finish())
    clientIn.on('error', this.#stop)
    clientOut.on('error', this.#stop)
  }

  #listenToServer(): void {
    const lines = new LineSplitter(MAX_MESSAGE_BYTES)
    const { stdout } = this.#server
    stdout?.on('data', (chunk: Buffer) => {
      if (lines.push(chunk, this.#fromServer)) return
      this.#options.warn(`the server wrote a line of more than ${MAX_MESSAGE_BYTES} bytes`)
      this.#stop()
    })
    // The last line may have no line break.
    stdout?.once('end', () => lines.push(NEWLINE, (line) => line.length === 0 || this.#fromServer(line)))
  }

  readonly #fromClient = (line: Buffer): void => {
    if (isBlank(line)) return
    if (hasInnerReturn(line)) {
      const why = 'a carriage return inside a message, which some servers read as its end'
      this.#toClient.write(rpcErrorText(null, rpcCodes.unreadable, why))
      return
    }
    const packet = readPacket(line)
    if (packet.kind === 'refused') {
      if (packet.answer !== undefined) this.#toClient.write(packet.answer)
      return
    }
    const admitted = this.#session.admit(packet, this.#channel)
    if (admitted instanceof Promise) this.#track(admitted.then(this.#forward))
    else this.#forward(admitted)
  }

  readonly #fromServer = (line: Buffer): void => {
    const filtered = this.#session.filterServerMessage(line)
    if (filtered instanceof Promise) this.#track(filtered.then(this.#answer))
    else this.#answer(filtered)
  }

  readonly #forward = ({ forward, answer }: AdmittedPacket): void => {
    const { clientIn } = this.#options
    if (answer !== undefined) this.#toClient.write(answer)
    if (forward === undefined) return
    if (this.#toServer?.write(forward, () => clientIn.resume()) === false) clientIn.pause()
  }

  readonly #answer = (line: Buffer | undefined): void => {
    const { stdout } = this.#server
    if (line === undefined) return
    if (!this.#toClient.write(line, () => stdout?.resume())) stdout?.pause()
  }

  /** The client sends nothing more. Forwards what still waits for the hooks, then closes the server. */
  async #finish(): Promise<void> {
    this.#isEnding = true
    this.#session.closeApprovals()
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending)
    this.#server.close()
  }

  readonly #stop = (): void => {
    this.#isEnding = true
    this.#gone.abort()
    this.#server.stop()
  }

  #track(work: Promise<void>): void {
    this.#pending.add(work)
    void work.finally(() => this.#pending.delete(work))
  }

  #endOf({ exitCode, signal, refused }: PipedEnd): ProxyEnd {
    if (refused !== undefined) return { exitCode: 127, refused }
    if (exitCode !== undefined) return { exitCode }
    // We ended the server because the client ended, which is not a failure.
    if (this.#isEnding || signal === undefined) return { exitCode: 0 }
    return { exitCode: 128 + constants.signals[signal] }
  }
}

/** JSON allows a carriage return between tokens, but some servers read it as the end of the line. */
function hasInnerReturn(line: Buffer): boolean {
  const at = line.indexOf(CARRIAGE_RETURN)
  return at !== -1 && at !== line.length - 1
}

function howItEnded({ exitCode, signal, refused }: PipedEnd): string {
  if (refused !== undefined) return `it could not be started: ${refused.slice(0, 200)}`
  return signal === undefined ? `exit code ${exitCode}` : `ended by ${signal}`
}

/** From this size on, a second write is cheaper than a copy. */
const LARGE_LINE = 65_536

/** Writes lines, and tells the source to pause while the other side does not read. */
class LineWriter {
  readonly #to: Writable
  #paused = new Set<() => void>()
  #isWaiting = false

  constructor(to: Writable) {
    this.#to = to
  }

  /** Returns false if the buffer is full, and calls `onReady` when there is room again. */
  write(line: Buffer | string, onReady?: () => void): boolean {
    if (!this.#to.writable) return true
    const bytes = typeof line === 'string' ? Buffer.from(line) : line
    let hasRoom: boolean
    if (bytes.length < LARGE_LINE) hasRoom = this.#to.write(Buffer.concat([bytes, NEWLINE]))
    else {
      this.#to.write(bytes)
      hasRoom = this.#to.write(NEWLINE)
    }
    if (hasRoom || onReady === undefined) return hasRoom
    this.#paused.add(onReady)
    this.#wait()
    return false
  }

  #wait(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    const release = () => {
      this.#isWaiting = false
      const paused = this.#paused
      this.#paused = new Set()
      for (const resume of paused) resume()
    }
    this.#to.once('drain', release)
    // A closed side never drains.
    this.#to.once('close', release)
  }
}
