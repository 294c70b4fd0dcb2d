import type { Socket } from 'node:net'
import { isRecord } from '../../engine/core/check.ts'
import { errorText, HookError, isHookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { decodeUtf8, parseJson } from '../../safe/json.ts'
import { Lines } from '../../safe/lines.ts'
import type { Caller } from '../auth/caller.ts'
import type { DispatchRequest } from '../dispatch/dispatcher.ts'
import { readDispatchRequest } from '../dispatch-request.ts'
import type { Door } from '../door.ts'
import { answerLine, errorLine, type LineId } from './lines-out.ts'

const VERSION = 1
const MAX_LINE = 1_048_576
/** More than this under way, and nothing further is read from the connection. */
const MAX_IN_FLIGHT = 256
const MAX_BUFFERED = 4 * 1_048_576

/** One connection of a local client: a line in, a line out, in whatever order they finish. */
export class LineConnection {
  readonly #socket: Socket
  readonly #door: Door
  readonly #lines = new Lines(MAX_LINE)
  readonly #gone = new AbortController()
  #caller: Caller | undefined
  /** Lines that came while the token of the first one was being looked up. */
  #early: Buffer[] | undefined
  #inFlight = 0
  #ending = false

  constructor(socket: Socket, door: Door) {
    this.#socket = socket
    this.#door = door
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('error', () => {})
    socket.once('close', () => {
      this.#ending = true
      this.#gone.abort()
    })
  }

  /** Answers what is under way, then closes. */
  end(): void {
    this.#ending = true
    if (this.#inFlight === 0) this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    if (this.#ending) return
    if (!this.#lines.push(chunk, this.#take))
      this.#fail(null, new HookError('input.too_large', `a line has more than ${MAX_LINE} bytes`))
    if (this.#inFlight >= MAX_IN_FLIGHT) this.#socket.pause()
  }

  readonly #take = (line: Buffer): void => {
    if (this.#ending) return
    if (this.#caller !== undefined) this.#dispatch(line, this.#caller)
    else if (this.#early !== undefined) this.#early.push(line)
    else this.#greet(line)
  }

  /** The first line: which protocol, and who if not just anybody on this machine whom the file lets in. */
  #greet(line: Buffer): void {
    try {
      const { token } = readHello(parseJson(decodeUtf8(line)))
      const { parts, tokens } = this.#door
      if (token === undefined) {
        this.#caller = localCaller(parts.defaultTenant)
        return
      }
      this.#early = []
      this.#socket.pause()
      Promise.resolve(tokens.find(token, undefined)).then(
        ({ caller }) => this.#open(caller),
        (thrown: unknown) => this.#fail(null, this.#coded(thrown)),
      )
    } catch (thrown) {
      this.#fail(null, this.#coded(thrown))
    }
  }

  #open(caller: Caller): void {
    const early = this.#early ?? []
    this.#caller = caller
    this.#early = undefined
    for (const line of early) this.#take(line)
    this.#socket.resume()
  }

  #dispatch(line: Buffer, caller: Caller): void {
    const { capacity, parts } = this.#door
    let id: LineId = null
    try {
      const text = decodeUtf8(line)
      const value = parseJson(text)
      id = idOf(value)
      if (id === null) throw serverError('gateway.request', 'a request needs an id', { at: 'id' })
      capacity.check(caller.tenant)
      const request = withoutId(value)
      this.#inFlight += 1
      capacity.enter()
      const asked = id
      parts.dispatcher.dispatch(caller, request, { signal: this.#gone.signal, text }).then(
        (answer) => this.#settle(answerLine(asked, answer.json)),
        (thrown: unknown) => this.#settle(errorLine(asked, this.#coded(thrown))),
      )
    } catch (thrown) {
      // Without an id nobody knows what the error answers, so that nothing further could be trusted.
      if (id === null) this.#fail(null, this.#coded(thrown))
      else this.#write(errorLine(id, this.#coded(thrown)))
    }
  }

  #settle(line: string): void {
    this.#door.capacity.leave()
    this.#inFlight -= 1
    this.#write(line)
    if (this.#ending && this.#inFlight === 0) this.#socket.end()
    else if (this.#inFlight === MAX_IN_FLIGHT >> 1 && this.#early === undefined) this.#socket.resume()
  }

  #write(line: string): void {
    if (!this.#socket.writable) return
    this.#socket.write(line)
    if (this.#socket.writableLength > MAX_BUFFERED) this.#socket.destroy()
  }

  /** One error line, then the end. */
  #fail(id: LineId, error: HookError): void {
    this.#write(errorLine(id, error))
    this.#ending = true
    this.#socket.end()
  }

  #coded(thrown: unknown): HookError {
    if (isHookError(thrown)) return thrown
    this.#door.parts.log('gateway.failed', { error: errorText(thrown) })
    return serverError('gateway.internal', 'the gateway could not do that')
  }
}

function readHello(value: unknown): { readonly token: string | undefined } {
  const version = fieldOf(value, 'hookhelm')
  if (version === undefined)
    throw serverError('gateway.protocol', 'the first line must be {"hookhelm":1}', { at: 'hookhelm' })
  if (version !== VERSION)
    throw serverError('gateway.protocol', `the protocol here has the version ${VERSION}`, { at: 'hookhelm' })
  const token = fieldOf(value, 'token')
  if (token === undefined || typeof token === 'string') return { token }
  throw serverError('auth.token', 'token must be text')
}

function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}

function idOf(value: unknown): LineId {
  const id = fieldOf(value, 'id')
  if (typeof id === 'string' && id.length <= 256) return id
  return typeof id === 'number' ? id : null
}

function withoutId(value: unknown): DispatchRequest {
  if (!isRecord(value)) return readDispatchRequest(value)
  const { id: _, ...request } = value
  return readDispatchRequest(request)
}

/** Whoever may open the file is the user themselves; node cannot ask the kernel who it is, so they may only dispatch. */
function localCaller(tenant: string): Caller {
  return { tenant, role: 'agent', master: false, name: 'socket', agentId: undefined }
}
