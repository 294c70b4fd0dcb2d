import type { Socket } from 'node:net'
import type { AgentAdapter } from '../../agents/agent-adapter.ts'
import { isRecord } from '../../engine/core/check.ts'
import { errorText, HookError, isHookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { decodeUtf8, parseJson } from '../../safe/json.ts'
import { Lines } from '../../safe/lines.ts'
import { type AgentRequest, requireAgent } from '../agents/agent-door.ts'
import { AGENT_LIMITS } from '../agents/agent-limits.ts'
import { type Caller, localCaller } from '../auth/caller.ts'
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
  #maxLine = MAX_LINE
  readonly #lines = new Lines(() => this.#maxLine)
  readonly #gone = new AbortController()
  #caller: Caller | undefined
  /** It is a coding agent that speaks here. */
  #agent: AgentAdapter | undefined
  /** Lines that came while the token of the first one was being looked up. */
  #early: Buffer[] | undefined
  /** Whoever names no token is the user of this machine. */
  #isLocal = false
  #inFlight = 0
  #ending = false

  constructor(socket: Socket, door: Door) {
    this.#socket = socket
    this.#door = door
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('error', () => {})
    socket.once('close', () => {
      this.#ending = true
      // Making the reason costs more than all the rest of a connection that has its answer.
      if (this.#inFlight > 0) this.#gone.abort()
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
      this.#fail(null, new HookError('input.too_large', `a line has more than ${this.#maxLine} bytes`))
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
      const { token, agent } = readHello(parseJson(decodeUtf8(line)))
      const { parts, tokens } = this.#door
      this.#isLocal = token === undefined
      if (agent !== undefined) {
        this.#agent = requireAgent(agent)
        this.#maxLine = AGENT_LIMITS.maxBytes
      }
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
    const { capacity } = this.#door
    let id: LineId = null
    try {
      const text = decodeUtf8(line)
      const value = parseJson(text, this.#agent === undefined ? {} : AGENT_LIMITS)
      id = idOf(value)
      if (id === null) throw serverError('gateway.request', 'a request needs an id', { at: 'id' })
      capacity.check(caller.tenant)
      const ask = this.#request(value, text, caller)
      this.#inFlight += 1
      capacity.enter()
      const asked = id
      ask().then(
        (json) => this.#settle(answerLine(asked, json)),
        (thrown: unknown) => this.#settle(errorLine(asked, this.#coded(thrown))),
      )
    } catch (thrown) {
      // Without an id nobody knows what the error answers, so that nothing further could be trusted.
      if (id === null) this.#fail(null, this.#coded(thrown))
      else this.#write(errorLine(id, this.#coded(thrown)))
    }
  }

  /** What is asked for, read before anything is counted. */
  #request(value: unknown, text: string, caller: Caller): () => Promise<string> {
    const { dispatcher, agents, edition } = this.#door.parts
    const { signal } = this.#gone
    const agent = this.#agent
    if (agent === undefined) {
      const request = withoutId(value)
      return async () => (await dispatcher.dispatch(caller, request, { signal, text })).json
    }
    const request = readAgentRequest(value)
    const isLocal = this.#isLocal && edition === 'lite'
    return async () => `{"reply":${await agents.ask(caller, agent, request, { signal, isLocal })}}`
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
    // Before this one: a single answer may be as large as what was asked.
    if (this.#socket.writableLength > MAX_BUFFERED) this.#socket.destroy()
    else this.#socket.write(line)
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

interface Hello {
  readonly token: string | undefined
  readonly agent: unknown
}

function readHello(value: unknown): Hello {
  const version = fieldOf(value, 'hookhelm')
  if (version === undefined)
    throw serverError('gateway.protocol', 'the first line must be {"hookhelm":1}', { at: 'hookhelm' })
  if (version !== VERSION)
    throw serverError('gateway.protocol', `the protocol here has the version ${VERSION}`, { at: 'hookhelm' })
  const token = fieldOf(value, 'token')
  if (token === undefined || typeof token === 'string') return { token, agent: fieldOf(value, 'agent') }
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

/** Strict: a field that nobody reads may be one that somebody meant. */
function readAgentRequest(value: unknown): AgentRequest {
  const { id: _, event, native, within_ms, ...rest } = isRecord(value) ? value : {}
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined)
    throw serverError('gateway.request', `there is no field ${unknown.slice(0, 80)}`, {
      at: unknown.slice(0, 80),
    })
  if (typeof event !== 'string') throw serverError('gateway.request', 'event must be text', { at: 'event' })
  if (within_ms !== undefined && typeof within_ms !== 'number')
    throw serverError('gateway.request', 'within_ms must be a number', { at: 'within_ms' })
  return { event, native }
}

function withoutId(value: unknown): DispatchRequest {
  if (!isRecord(value)) return readDispatchRequest(value)
  const { id: _, ...request } = value
  return readDispatchRequest(request)
}
