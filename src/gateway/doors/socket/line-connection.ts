import type { Socket } from 'node:net'
import { type Caller, localCaller } from '../../../access/caller.ts'
import type { RevocationWatch } from '../../../access/revocation-watch.ts'
import { type AdmittedCaller, invalidTokenError } from '../../../access/tokens.ts'
import type { AgentAdapter } from '../../../agents/agent-adapter.ts'
import type { PendingApproval } from '../../../approvals/approvals.ts'
import { errorText, HookError, isHookError } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import { definedFields } from '../../../engine/core/values/defined-fields.ts'
import { callerWait } from '../../../pipeline/caller-wait.ts'
import { decodeUtf8, parseJson } from '../../../safe/json.ts'
import { LineSplitter } from '../../../safe/line-splitter.ts'
import { agentProcess, isRunning } from '../../../safe/process/process-table.ts'
import { mayNameFolders } from '../../../stored-hooks/snapshots/event-folders.ts'
import { AGENT_LIMITS, requireAgent } from '../../agents/agent-door.ts'
import type { Door } from '../door.ts'
import {
  agentReplyLine,
  decisionLine,
  errorLine,
  isCancelLine,
  type LineId,
  lineIdOf,
  pendingLine,
  readAgentLine,
  readDispatchLine,
  readHelloLine,
} from './line-protocol.ts'

const MAX_LINE = 1_048_576
/** With this many requests in flight, the gateway stops reading from the connection. */
const MAX_IN_FLIGHT = 256
const MAX_BUFFERED = 4 * 1_048_576

/** How often, and for how long, a connection that was lost is checked for whether its process has ended. */
const LOOK_MS = 50
const LOOKS = 20

/** A request without a reply. */
interface OpenRequest {
  readonly id: LineId
  readonly caller: Caller
  /** Ends the question to a person; undefined if none is being asked. */
  leave: (() => void) | undefined
  /** It is answered, or waits for a person. */
  leaveCapacity: () => void
}

/** One connection of a local client: one JSON line per request and reply, in the order in which requests finish. */
export class LineConnection {
  readonly #socket: Socket
  readonly #door: Door
  readonly #revocations: RevocationWatch
  #maxLine = MAX_LINE
  readonly #lines = new LineSplitter(() => this.#maxLine)
  readonly #closed = new AbortController()
  #caller: Caller | undefined
  /** Set if the client is a coding agent. */
  #agent: AgentAdapter | undefined
  /** The process of the client, if this machine sees it. */
  #pid: number | undefined
  /** The same, also when it is known to be of another container. */
  #namedPid: number | undefined
  /** The process that the client works for. */
  #found: { readonly process: string | undefined } | undefined
  /** What arrives while the token of the first line is looked up. */
  #early: Buffer[] | undefined
  /** Requests without a reply, and those of them that wait for a person. */
  #inFlight = 0
  readonly #waiting = new Set<OpenRequest>()
  #ending = false

  constructor(socket: Socket, door: Door, revocations: RevocationWatch) {
    this.#socket = socket
    this.#door = door
    this.#revocations = revocations
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('error', () => {})
    socket.once('close', () => {
      this.#ending = true
      // Creating the abort reason is expensive, and an answered connection needs none.
      if (this.#inFlight > 0) this.#lose()
    })
  }

  /** Closes after the last reply. */
  end(): void {
    this.#ending = true
    if (this.#inFlight === 0) this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /**
   * A client that has ended does not come back, so its questions end at once. One that lives may have lost only its
   * connection. The system closes the connection shortly before the process has ended.
   */
  #lose(): void {
    const pid = this.#pid
    if (pid === undefined || this.#waiting.size === 0) return this.#closed.abort()
    let looks = 0
    const ticker = this.#door.clock.every(LOOK_MS, () => {
      looks += 1
      const hasEnded = !isRunning(pid)
      if (!hasEnded && looks < LOOKS) return
      ticker.stop()
      if (hasEnded) for (const { leave } of this.#waiting) leave?.()
      this.#closed.abort()
    })
    ticker.hold(false)
  }

  #receive(chunk: Buffer): void {
    if (this.#ending) return
    if (!this.#lines.push(chunk, this.#take))
      this.#fail(null, new HookError('input.too_large', `a line has more than ${this.#maxLine} bytes`))
    if (this.#inFlight - this.#waiting.size >= MAX_IN_FLIGHT) this.#socket.pause()
  }

  readonly #take = (line: Buffer): void => {
    if (this.#ending) return
    if (this.#caller !== undefined) this.#dispatch(line, this.#caller)
    else if (this.#early !== undefined) this.#early.push(line)
    else this.#greet(line)
  }

  /** The first line names the protocol version, and optionally a token and a coding agent. */
  #greet(line: Buffer): void {
    try {
      const { token, agent, pid } = readHelloLine(parseJson(decodeUtf8(line)))
      const { parts, tokens } = this.#door
      this.#pid = pid
      this.#namedPid = pid
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
        (known) => this.#open(known),
        (thrown: unknown) => this.#fail(null, this.#coded(thrown)),
      )
    } catch (thrown) {
      this.#fail(null, this.#coded(thrown))
    }
  }

  #open(known: AdmittedCaller): void {
    const early = this.#early ?? []
    this.#caller = known.caller
    const unwatch = this.#revocations.add(known, () => {
      this.#fail(null, invalidTokenError())
      this.#socket.destroySoon()
    })
    this.#socket.once('close', unwatch)
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
      id = lineIdOf(value)
      if (id === null) throw serverError('gateway.request', 'a request needs an id', { at: 'id' })
      // No reply: the client has forgotten the request.
      if (isCancelLine(value)) return this.#cancel(id)
      capacity.check(caller.tenant)
      const call: OpenRequest = { id, caller, leave: undefined, leaveCapacity: () => {} }
      const run = this.#request(value, text, call)
      this.#inFlight += 1
      call.leaveCapacity = capacity.enter()
      run().then(
        (reply) => this.#settle(call, reply),
        (thrown: unknown) => this.#failRequest(call, this.#coded(thrown)),
      )
    } catch (thrown) {
      // Without an id the client cannot assign the error, so the connection ends.
      if (id === null) this.#fail(null, this.#coded(thrown))
      else this.#write(errorLine(id, this.#coded(thrown)))
    }
  }

  /** Parses the request before capacity counts it. The returned function resolves with the reply line. */
  #request(value: unknown, text: string, call: OpenRequest): () => Promise<string> {
    const { id, caller } = call
    const { dispatcher, agents, parts } = this.#door
    const { signal } = this.#closed
    const agent = this.#agent
    const tellPending = ({ approvalId, untilMs, leave }: PendingApproval) => {
      this.#hold(call, leave)
      this.#write(pendingLine(id, `waits for approval ${approvalId}`, untilMs))
    }
    if (agent === undefined) {
      const request = readDispatchLine(value)
      const process = () => definedFields({ process: this.#process() })
      const context = { signal, text, process, ...callerWait(request.within_ms, false, tellPending) }
      return async () => decisionLine(id, (await dispatcher.dispatch(caller, request, context)).json)
    }
    const request = readAgentLine(value)
    const isLocal = mayNameFolders(caller, parts)
    const options = { signal, isLocal, onPending: tellPending, findProcess: () => this.#process() }
    return async () => agentReplyLine(id, await agents.decide(caller, agent, request, options))
  }

  /** Found once, because the client ends when it has its answer. */
  #process(): string | undefined {
    const pid = this.#namedPid
    // Every client of ours names its process. Those that do not count together: silence must not be a way around limits.
    if (pid === undefined) return 'unnamed'
    this.#found ??= { process: agentProcess(pid, this.#agent?.transport === 'command') }
    return this.#found.process
  }

  /** A call that waits when the gateway stops gets no reply: its client connects again and asks the next gateway. */
  #failRequest(call: OpenRequest, error: HookError): void {
    if (error.code === 'gateway.stopping') this.#socket.destroy()
    this.#settle(call, errorLine(call.id, error))
  }

  /** A call that waits for a person takes no capacity, and other requests of its connection are read on. */
  #hold(call: OpenRequest, leave: () => void): void {
    const isHeld = call.leave !== undefined
    call.leave = leave
    if (isHeld) return
    // In another container its id means nothing here.
    if (this.#pid !== undefined && !isRunning(this.#pid)) this.#pid = undefined
    this.#waiting.add(call)
    call.leaveCapacity()
    this.#resume()
  }

  #cancel(id: LineId): void {
    for (const call of this.#waiting) if (call.id === id) call.leave?.()
  }

  #settle(call: OpenRequest, line: string): void {
    call.leaveCapacity()
    this.#waiting.delete(call)
    this.#inFlight -= 1
    this.#write(line)
    if (this.#ending && this.#inFlight === 0) this.#socket.end()
    else this.#resume()
  }

  #resume(): void {
    if (this.#inFlight - this.#waiting.size === MAX_IN_FLIGHT >> 1 && this.#early === undefined)
      this.#socket.resume()
  }

  #write(line: string): void {
    if (!this.#socket.writable) return
    // Checked before this line: a single reply may be as large as its request.
    if (this.#socket.writableLength > MAX_BUFFERED) this.#socket.destroy()
    else this.#socket.write(line)
  }

  /** Writes one error line and ends the connection. */
  #fail(id: LineId, error: HookError): void {
    this.#write(errorLine(id, error))
    this.#ending = true
    this.#socket.end()
  }

  #coded(thrown: unknown): HookError {
    if (isHookError(thrown)) return thrown
    this.#door.log('gateway.failed', { error: errorText(thrown) })
    return serverError('gateway.internal', 'the gateway failed unexpectedly')
  }
}
