import { randomUUID } from 'node:crypto'
import { mcpToolName } from '../agents/translate/tool-names.ts'
import { after } from '../engine/core/after.ts'
import { isRecord } from '../engine/core/check.ts'
import type { Envelope } from '../engine/core/context.ts'
import { ApprovalRequests, canAsk } from './approval-requests.ts'
import { type AdmittedPacket, assemblePacket, type MessageDisposition, PASS } from './assemble-packet.ts'
import { CallGate, type CallGateOptions } from './call-gate.ts'
import { filterServerMessage } from './filter-server-message.ts'
import type { Packet, PacketItem, RpcMessage, ToolCallItem } from './packet.ts'
import { rpcCodes, rpcErrorText, rpcResultText } from './packet.ts'
import { type McpToolCall, PendingRequests } from './pending-requests.ts'
import type { ServerName } from './server-name.ts'
import { errorResult } from './tool-result.ts'

export interface McpSessionOptions extends CallGateOptions {
  readonly server: ServerName
  /** Replaces the name that the client sends. */
  readonly agent?: string
  readonly cwd?: string
}

/** What the client declares with `initialize`. */
interface ClientInfo {
  readonly agent?: string
  readonly version?: string
  /** The client can ask a person. */
  readonly canAsk: boolean
}

/** The client; shared by all its HTTP exchanges. */
interface SessionClient {
  readonly id: string
  readonly approvals: ApprovalRequests
  info: ClientInfo
}

/** The connection to the client while its packet waits for the hooks. */
export interface ClientChannel {
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Sends the client a message of our own. Missing if the connection cannot carry one. */
  readonly send?: (text: string) => void
}

/** How long the end of a session waits for its hooks. */
const END_EVENT_MS = 1_000

/** One client, one server, and the requests between them. */
export class McpSession {
  readonly calls = new PendingRequests()
  readonly #options: McpSessionOptions
  readonly #gate: CallGate
  readonly #client: SessionClient
  /** Observations that only the end of the session waits for. */
  readonly #background = new Set<Promise<unknown>>()
  #hasStarted = false

  constructor(options: McpSessionOptions, client?: SessionClient) {
    this.#options = options
    this.#gate = new CallGate(options)
    this.#client = client ?? {
      id: randomUUID(),
      approvals: new ApprovalRequests(options.clock),
      info: { canAsk: false },
    }
  }

  /** The same client in its next HTTP exchange, where it may use the same request ids again. */
  forNextExchange(): McpSession {
    return new McpSession(this.#options, this.#client)
  }

  /** Returns what goes to the server and what the client gets back. Synchronous if no hook has to decide. */
  admit(packet: Packet, channel: ClientChannel): AdmittedPacket | Promise<AdmittedPacket> {
    const dispositions = packet.items.map((item) => this.#admitItem(item, channel))
    const settled = dispositions.filter(isSettled)
    if (settled.length === dispositions.length) return assemblePacket(packet, settled, this.calls)
    return Promise.all(dispositions).then((all) => assemblePacket(packet, all, this.calls))
  }

  /** Returns what the client receives for a message of the server. Synchronous if it is not the result of a tool. */
  filterServerMessage(raw: Buffer, isResumed = false): Buffer | undefined | Promise<Buffer | undefined> {
    if (this.calls.isEmpty && !isResumed) return raw
    return filterServerMessage(raw, {
      calls: this.calls,
      gate: this.#gate,
      server: this.#options.server,
      envelope: (call) => this.#envelope(call?.useId),
      warn: (line) => this.#options.warn(line),
      ...(isResumed ? { unknownCall: () => this.#unknownCall() } : {}),
    })
  }

  /** For a client that sends nothing more: no person can answer. */
  closeApprovals(): void {
    this.#client.approvals.close()
  }

  /** Aborts held calls, and dispatches `session_end` with a short time limit. */
  async end(reason: string): Promise<void> {
    this.calls.abandon()
    const timedOut = new AbortController()
    const timeLimit = Promise.withResolvers<void>()
    const cancelTimer = after(this.#options.clock, END_EVENT_MS, () => {
      timedOut.abort()
      timeLimit.resolve()
    })
    const payload = { reason }
    if (this.#hasStarted)
      this.#runInBackground(
        this.#gate.observe({ event: 'session_end', payload }, this.#envelope(), timedOut.signal),
      )
    this.#hasStarted = false
    await Promise.race([Promise.allSettled(this.#background), timeLimit.promise])
    cancelTimer()
  }

  /** Fails requests that will get no response, by default all of them. Returns their ids. */
  failPending(why: string, keys?: readonly string[]): readonly unknown[] {
    const failed = this.calls.abandon(keys)
    for (const entry of failed)
      if (entry.kind === 'call')
        this.#runInBackground(this.#gate.failed(entry, why, this.#envelope(entry.useId)))
    return failed.map(({ id }) => id)
  }

  #runInBackground(work: Promise<unknown>): void {
    this.#background.add(work)
    void work.finally(() => this.#background.delete(work))
  }

  #admitItem(item: PacketItem, channel: ClientChannel): MessageDisposition | Promise<MessageDisposition> {
    if (item.kind === 'notification') return PASS
    if (item.kind === 'answer')
      return this.#client.approvals.take(item.id, item.message) ? { kind: 'drop' } : PASS
    if (item.kind === 'cancelled') return this.#cancel(item.key)
    const { id, key } = item
    // Two responses with the same id could not be told apart.
    if (this.calls.has(key)) return refusal(id, 'another request with this id is in progress')
    if (this.calls.isFull) return refusal(id, 'too many requests are in progress')
    if (item.kind === 'call') return this.#decide(item, channel)
    if (item.kind === 'initialize') this.#initialize(item.message)
    const taskCall = item.kind === 'task_result' ? this.#taskCall(id, item.message) : undefined
    this.calls.put(key, taskCall ?? { kind: item.kind === 'initialize' ? 'initialize' : 'other', id })
    return PASS
  }

  #cancel(key: string | undefined): MessageDisposition {
    const entry = key === undefined ? undefined : this.calls.get(key)
    if (key === undefined || entry === undefined) return PASS
    if (entry.kind === 'other') this.calls.forget(key)
    if (entry.kind !== 'held') return PASS
    // The server never saw the request, so it gets no cancellation.
    entry.abort.abort()
    this.calls.forget(key)
    return { kind: 'drop' }
  }

  async #decide(item: ToolCallItem, channel: ClientChannel): Promise<MessageDisposition> {
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, channel.signal])
    const held = { kind: 'held', id: item.id, abort } as const
    this.calls.put(item.key, held)
    const disposition = await this.#askHooks(item, { ...channel, signal })
    // A cancelled call gets no response, and the client may use its id again.
    if (signal.aborted) {
      if (this.calls.get(item.key) === held) this.calls.forget(item.key)
      return { kind: 'drop' }
    }
    if (disposition.kind === 'pass') return { ...disposition, held }
    this.calls.forget(item.key)
    return disposition
  }

  async #askHooks(item: ToolCallItem, channel: ClientChannel): Promise<MessageDisposition> {
    const { id, key, message, params } = item
    const server = await this.#options.server.known(channel.signal)
    if (server === undefined) return refusal(id, 'initialize comes first; or start the proxy with --name')
    const isTask = params.task !== undefined
    const call = { tool: mcpToolName(server, item.name), input: item.input, useId: useIdOf(params) }
    const decision = await this.#gate.before(call, this.#envelope(call.useId), channel.signal)
    const input = decision.input ?? item.input
    const blocked =
      decision.kind === 'ask' ? await this.#ask({ ...call, input }, decision.text, channel) : decision
    if (blocked.kind === 'block') return { kind: 'drop', answer: blockedAnswer(id, blocked.text, isTask) }
    const { context, opened } = decision
    const began = this.#options.clock.elapsed()
    const sent: McpToolCall = {
      kind: 'call',
      id,
      ...call,
      input,
      began,
      isTask,
      context,
      ...(opened === undefined ? {} : { opened }),
    }
    if (decision.input === undefined) return { kind: 'pass', key, call: sent }
    const text = JSON.stringify({ ...message, params: { ...params, arguments: input } })
    return { kind: 'pass', key, call: sent, text }
  }

  async #ask(
    { tool, input }: Pick<McpToolCall, 'tool' | 'input'>,
    text: string,
    { send, signal }: ClientChannel,
  ): Promise<{ readonly kind: 'allow' | 'block'; readonly text: string }> {
    if (!this.#client.info.canAsk || send === undefined)
      return {
        kind: 'block',
        text: `hookhelm: blocked: a person must approve this, and this client cannot ask: ${text}`,
      }
    const agreed = await this.#client.approvals.ask({ text, tool, input }, send, signal)
    return agreed
      ? { kind: 'allow', text }
      : { kind: 'block', text: `hookhelm: blocked: the person did not approve: ${text}` }
  }

  #initialize({ params }: RpcMessage): void {
    const { clientInfo, capabilities, protocolVersion } = isRecord(params) ? params : {}
    const name = isRecord(clientInfo) ? clientInfo.name : undefined
    this.#client.info = {
      canAsk: canAsk(capabilities),
      ...(typeof name === 'string' ? { agent: name } : {}),
      ...(typeof protocolVersion === 'string' ? { version: protocolVersion } : {}),
    }
    this.#options.server.expect()
    if (this.#hasStarted) return
    this.#hasStarted = true
    const { cwd } = this.#options
    const payload = { source: 'startup', ...(cwd === undefined ? {} : { cwd }) }
    this.#runInBackground(this.#gate.observe({ event: 'session_start', payload }, this.#envelope(), never))
  }

  /** The call whose result `tasks/result` requests. The result of a call that this session did not see is checked too. */
  #taskCall(id: unknown, { params }: RpcMessage): McpToolCall {
    const call = this.calls.task(isRecord(params) ? params.taskId : undefined) ?? this.#unknownCall()
    return { ...call, id, isTask: false }
  }

  #unknownCall(): McpToolCall {
    const tool = mcpToolName(this.#options.server.now ?? 'unknown', 'unknown')
    const began = this.#options.clock.elapsed()
    return { kind: 'call', id: null, tool, input: {}, useId: randomUUID(), began, isTask: false, context: [] }
  }

  #envelope(toolCall?: string): Envelope {
    const agent = this.#options.agent ?? this.#client.info.agent
    const { cwd } = this.#options
    const { version } = this.#client.info
    return {
      session: this.#client.id,
      host: 'mcp',
      ...(agent === undefined ? {} : { agent }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(version === undefined ? {} : { hostVersion: version }),
      ...(toolCall === undefined ? {} : { toolCall }),
    }
  }
}

const never = new AbortController().signal

function isSettled(
  disposition: MessageDisposition | Promise<MessageDisposition>,
): disposition is MessageDisposition {
  return !(disposition instanceof Promise)
}

/** The agent's own id of the call, if the client sends it. */
function useIdOf({ _meta: meta }: RpcMessage): string {
  const given = isRecord(meta) ? meta['claudecode/toolUseId'] : undefined
  return typeof given === 'string' && given.length <= 256 ? given : randomUUID()
}

function refusal(id: unknown, why: string): MessageDisposition {
  return { kind: 'drop', answer: rpcErrorText(id, rpcCodes.invalid, why) }
}

function blockedAnswer(id: unknown, text: string, isTask: boolean): string {
  if (!isTask) return rpcResultText(id, errorResult(text))
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: rpcCodes.blocked, message: text } })
}
