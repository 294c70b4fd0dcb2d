import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { LineSplitter } from '../../safe/line-splitter.ts'
import { type PipedEnd, PipedProcess } from '../../safe/process/piped-process.ts'
import type { AdmittedMessage } from '../passage.ts'
import { rpcCodes, rpcErrorText } from '../rpc/answer.ts'
import { MAX_MESSAGE_BYTES, readPacket } from '../rpc/packet.ts'
import { isBlank } from '../rpc/skim.ts'
import { Session, type SessionOptions } from '../session.ts'
import { LineWriter } from './line-writer.ts'

export interface StdioProxyOptions extends SessionOptions {
  /** The server: a program and its arguments. */
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly clientIn: Readable
  readonly clientOut: Writable
  /** Aborted by a signal from outside: everything ends now. */
  readonly signal: AbortSignal
}

export interface ProxyEnd {
  /** The server's own, as a shell would tell it. */
  readonly exitCode: number
  /** Why it could not be started. */
  readonly refused?: string
}

/** Stands between a client and the server that it would have started. Settles when both are gone. */
export function runStdioProxy(options: StdioProxyOptions): Promise<ProxyEnd> {
  return new StdioProxy(options).run()
}

const CARRIAGE_RETURN = 0x0d
const NEWLINE = Buffer.from('\n')

class StdioProxy {
  readonly #options: StdioProxyOptions
  readonly #server: PipedProcess
  readonly #session: Session
  readonly #toClient: LineWriter
  readonly #toServer: LineWriter | undefined
  readonly #gone = new AbortController()
  /** What hooks are being asked about, in either direction. */
  readonly #pending = new Set<Promise<void>>()
  readonly #link = { signal: this.#gone.signal, send: (text: string) => void this.#toClient.write(text) }
  #isLeaving = false

  constructor(options: StdioProxyOptions) {
    this.#options = options
    const { argv, cwd, env, clock } = options
    this.#server = new PipedProcess({ argv, cwd, env }, clock)
    this.#session = new Session(options)
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
    // The server answers nothing more; what hooks are still being asked about it never saw.
    const why = `the server is gone: ${howItEnded(end)}`
    for (const id of this.#session.lose(why)) this.#toClient.write(rpcErrorText(id, rpcCodes.gone, why))
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
    clientIn.once('end', () => void this.#leave())
    clientIn.on('error', this.#stop)
    clientOut.on('error', this.#stop)
  }

  #listenToServer(): void {
    const lines = new LineSplitter(MAX_MESSAGE_BYTES)
    const { stdout } = this.#server
    stdout?.on('data', (chunk: Buffer) => {
      if (lines.push(chunk, this.#fromServer)) return
      this.#options.tell(`the server wrote a line of more than ${MAX_MESSAGE_BYTES} bytes`)
      this.#stop()
    })
    // Its last line may lack an end.
    stdout?.once('end', () => lines.push(NEWLINE, (line) => line.length === 0 || this.#fromServer(line)))
  }

  readonly #fromClient = (line: Buffer): void => {
    if (isBlank(line)) return
    if (hasInnerBreak(line)) {
      const why = 'a line break within a message, which some servers take for its end'
      this.#toClient.write(rpcErrorText(null, rpcCodes.unreadable, why))
      return
    }
    const packet = readPacket(line)
    if (packet.kind === 'refused') {
      if (packet.answer !== undefined) this.#toClient.write(packet.answer)
      return
    }
    const admitted = this.#session.admit(packet, this.#link)
    if (admitted instanceof Promise) this.#keep(admitted.then(this.#forward))
    else this.#forward(admitted)
  }

  readonly #fromServer = (line: Buffer): void => {
    const given = this.#session.pass(line)
    if (given instanceof Promise) this.#keep(given.then(this.#give))
    else this.#give(given)
  }

  readonly #forward = ({ forward, answer }: AdmittedMessage): void => {
    const { clientIn } = this.#options
    if (answer !== undefined) this.#toClient.write(answer)
    if (forward === undefined) return
    if (this.#toServer?.write(forward, () => clientIn.resume()) === false) clientIn.pause()
  }

  readonly #give = (line: Buffer | undefined): void => {
    const { stdout } = this.#server
    if (line === undefined) return
    if (!this.#toClient.write(line, () => stdout?.resume())) stdout?.pause()
  }

  /** The client sends nothing more: what it sent is decided and sent on, then the server may go. */
  async #leave(): Promise<void> {
    this.#isLeaving = true
    this.#session.stopAsking()
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending)
    this.#server.close()
  }

  readonly #stop = (): void => {
    this.#isLeaving = true
    this.#gone.abort()
    this.#server.stop()
  }

  #keep(work: Promise<void>): void {
    this.#pending.add(work)
    void work.finally(() => this.#pending.delete(work))
  }

  #endOf({ exitCode, signal, refused }: PipedEnd): ProxyEnd {
    if (refused !== undefined) return { exitCode: 127, refused }
    if (exitCode !== undefined) return { exitCode }
    // We ended it because the client left, which is no failure.
    if (this.#isLeaving || signal === undefined) return { exitCode: 0 }
    return { exitCode: 128 + constants.signals[signal] }
  }
}

/** A carriage return between two tokens is a blank to JSON, and the end of a line to servers that read text. */
function hasInnerBreak(line: Buffer): boolean {
  const at = line.indexOf(CARRIAGE_RETURN)
  return at !== -1 && at !== line.length - 1
}

function howItEnded({ exitCode, signal, refused }: PipedEnd): string {
  if (refused !== undefined) return `it could not be started: ${refused.slice(0, 200)}`
  return signal === undefined ? `exit code ${exitCode}` : `ended by ${signal}`
}
