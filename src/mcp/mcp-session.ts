import { randomUUID } from 'node:crypto'
import { mcpToolName } from '../agents/translate/tool-names.ts'
import type { Envelope } from '../engine/core/context.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { after } from '../engine/core/time/after.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { ApprovalRequests } from './approval-requests.ts'
import { ApprovalStates } from './approval-states.ts'
import { CallGate, type CallGateOptions, type McpEvent } from './call-gate.ts'
import {
  type AdmittedPacket,
  assemblePacket,
  type MessageDisposition,
  PASS,
} from './messages/assemble-packet.ts'
import { filterServerMessage, type ServerStream } from './messages/filter-server-message.ts'
import type { Packet, PacketItem, RpcMessage, ToolCallItem } from './messages/packet.ts'
import { requestKey, rpcCodes, rpcErrorText } from './messages/packet.ts'
import {
  clientInfoOf,
  type McpClientInfo,
  metaKeys,
  metaOf,
  type RequestEnvelope,
  serverNameOf,
  traceparentOf,
} from './messages/request-envelope.ts'
import { ToolHeaders } from './messages/tool-headers.ts'
import { type McpToolCall, PendingRequests, TaskCalls } from './pending-requests.ts'
import type { ServerName } from './server-name.ts'
import { type ClientChannel, decideToolCall } from './tool-call.ts'
import { noticeOf, ToolChanges, type ToolPinOptions } from './tool-changes.ts'

export interface McpSessionOptions extends CallGateOptions {
  readonly server: ServerName
  /** Replaces the name that the client sends. */
  readonly agent?: string
  readonly cwd?: string
  /** Compares the tools of the server with those that the user accepted. */
  readonly toolPins?: ToolPinOptions
  /** What all sessions of a proxy share; each session has its own by default. */
  readonly shared?: SharedState
}

/** What all sessions of a proxy share. */
export interface SharedState {
  readonly states: ApprovalStates
  /** By the id of the task, which the server makes unique. */
  readonly tasks: TaskCalls
  readonly toolChanges: ToolChanges
  readonly toolHeaders: ToolHeaders
}

export function createSharedState({ clock, toolPins, warn }: McpSessionOptions): SharedState {
  return {
    states: new ApprovalStates(clock),
    tasks: new TaskCalls(),
    toolChanges: new ToolChanges(toolPins, warn),
    toolHeaders: new ToolHeaders(),
  }
}

/** The client; shared by all its HTTP exchanges. */
interface SessionClient {
  readonly id: string
  readonly approvals: ApprovalRequests
  info: McpClientInfo
  hasStarted: boolean
  hasInitialized: boolean
  /** The client sent a request of revision 2026-07-28. */
  isStateless: boolean
}

type OtherRequestItem = Exclude<Extract<PacketItem, { id: unknown; key: string }>, ToolCallItem>

/** How long the end of a session waits for its hooks. */
const END_EVENT_MS = 1_000
/** How long the server may take to tell its name. */
const DISCOVER_MS = 10_000

/** One client, one server, and the requests between them. */
export class McpSession {
  readonly calls = new PendingRequests()
  readonly #options: McpSessionOptions
  readonly #shared: SharedState
  readonly #gate: CallGate
  readonly #client: SessionClient
  /** Observations that only the end of the session waits for. */
  readonly #background = new Set<Promise<unknown>>()

  constructor(options: McpSessionOptions, client?: SessionClient) {
    this.#options = options
    this.#shared = options.shared ?? createSharedState(options)
    this.#gate = new CallGate(options)
    this.#client = client ?? {
      id: randomUUID(),
      approvals: new ApprovalRequests(options.clock),
      info: { canAsk: false },
      hasStarted: false,
      hasInitialized: false,
      isStateless: false,
    }
  }

  /** The same client in its next HTTP exchange, where it may use the same request ids again. */
  forNextExchange(): McpSession {
    return new McpSession({ ...this.#options, shared: this.#shared }, this.#client)
  }

  /** Returns what goes to the server and what the client gets back. Synchronous if no hook has to decide. */
  admit(packet: Packet, channel: ClientChannel): AdmittedPacket | Promise<AdmittedPacket> {
    const dispositions = packet.items.map((item) => this.#admitItem(item, channel))
    const settled = dispositions.filter(isSettled)
    if (settled.length === dispositions.length) return assemblePacket(packet, settled, this.calls)
    return Promise.all(dispositions).then((all) => assemblePacket(packet, all, this.calls))
  }

  /** Returns what the client receives for a message of the server. Synchronous if it is not the result of a tool. */
  filterServerMessage(
    raw: Buffer,
    stream: ServerStream = 'connection',
  ): Buffer | undefined | Promise<Buffer | undefined> {
    if (stream === 'connection' && this.calls.isEmpty && this.#shared.tasks.isEmpty) return raw
    return filterServerMessage(raw, {
      calls: this.calls,
      tasks: this.#shared.tasks,
      gate: this.#gate,
      server: this.#options.server,
      warn: (line) => this.#options.warn(line),
      noticeTools: (result) => this.#noticeTools(result),
      unknownCall: () => this.#unknownCall(),
      stream,
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
    if (this.#client.hasStarted)
      this.#observe({ event: 'session_end', payload: { reason } }, this.#client.info, timedOut.signal)
    this.#client.hasStarted = false
    await Promise.race([Promise.allSettled(this.#background), timeLimit.promise])
    cancelTimer()
  }

  /** Fails requests that will get no response, by default all of them. Returns the ids of the client's requests. */
  failPending(why: string, keys?: readonly string[]): readonly unknown[] {
    const failed = this.calls.abandon(keys)
    for (const entry of failed) {
      if (entry.kind === 'call') this.#runInBackground(this.#gate.failed(entry, why))
      if (entry.kind === 'initialize' || entry.kind === 'discover' || entry.kind === 'own_discover')
        this.#options.server.learn(undefined)
    }
    return failed.filter(({ kind }) => kind !== 'own_discover').map(({ id }) => id)
  }

  /** Fails the requests of the proxy itself. */
  failOwnRequests(why: string): void {
    this.failPending(why, this.calls.ownKeys)
  }

  #runInBackground(work: Promise<unknown>): void {
    this.#background.add(work)
    void work.finally(() => this.#background.delete(work))
  }

  #observe(event: McpEvent, caller: McpClientInfo, signal = never): void {
    this.#runInBackground(this.#gate.observe(event, this.#envelope(caller), signal))
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
    // A client may start a server only to discover its revisions, which is no session.
    if (item.envelope !== undefined && item.kind !== 'discover') this.#beginStateless(item.envelope)
    if (item.kind === 'call') return this.#decide(item, channel)
    if (item.kind === 'initialize') this.#initialize(item.message)
    if (item.kind === 'initialize' || item.kind === 'discover') this.#options.server.expect()
    this.#expectResponse(item)
    return PASS
  }

  #expectResponse({ kind, id, key, message }: OtherRequestItem): void {
    if (kind === 'task_result') this.calls.set(key, this.#taskCall(id, message))
    else if (kind === 'task_get') this.calls.set(key, { kind, id, call: this.#taskCall(id, message) })
    else if (kind === 'initialize' || kind === 'discover' || kind === 'tools_list')
      this.calls.set(key, { kind, id })
    else this.calls.set(key, { kind: 'other', id })
  }

  #cancel(key: string | undefined): MessageDisposition {
    const entry = key === undefined ? undefined : this.calls.get(key)
    if (key === undefined || entry === undefined) return PASS
    if (entry.kind === 'other' || entry.kind === 'tools_list') this.calls.delete(key)
    if (entry.kind !== 'held') return PASS
    // The server never saw the request, so it gets no cancellation.
    entry.abort.abort()
    this.calls.delete(key)
    return { kind: 'drop' }
  }

  async #decide(item: ToolCallItem, channel: ClientChannel): Promise<MessageDisposition> {
    const problem = this.#envelopeProblem(item)
    if (problem !== undefined) return problem
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, channel.signal])
    const held = { kind: 'held', id: item.id, abort } as const
    this.calls.set(item.key, held)
    const disposition = await this.#decideHeld(item, { ...channel, signal })
    // A cancelled call gets no response, and the client may use its id again.
    if (signal.aborted) {
      if (this.calls.get(item.key) === held) this.calls.delete(item.key)
      return { kind: 'drop' }
    }
    if (disposition.kind === 'pass') return { ...disposition, held }
    this.calls.delete(item.key)
    return disposition
  }

  /** A client that speaks revision 2026-07-28 describes every request. The proxy would not know how to answer this one. */
  #envelopeProblem({ id, envelope }: ToolCallItem): MessageDisposition | undefined {
    if (envelope !== undefined || !this.#client.isStateless || this.#client.hasInitialized) return undefined
    const why = `the request has no _meta["${metaKeys.version}"]`
    return { kind: 'drop', answer: rpcErrorText(id, rpcCodes.invalidParams, why) }
  }

  async #decideHeld(item: ToolCallItem, channel: ClientChannel): Promise<MessageDisposition> {
    const { id, envelope, params } = item
    const server = await this.#serverName(envelope, channel)
    if (server === undefined) return refusal(id, envelope === undefined ? NOT_INITIALIZED : NAMELESS)
    const caller = envelope ?? this.#client.info
    const blocked = this.#shared.toolChanges.whyBlocked(item.name, server)
    if (blocked !== undefined) this.#observe(noticeOf('mcp_tool_blocked', blocked), caller)
    return decideToolCall(item, {
      tool: mcpToolName(server, item.name),
      blocked,
      caller,
      envelope: (useId) => this.#envelope(caller, { toolCall: useId, meta: metaOf(params) }),
      gate: this.#gate,
      clock: this.#options.clock,
      states: this.#shared.states,
      approvals: this.#client.approvals,
      toolHeaders: this.#shared.toolHeaders,
      channel,
    })
  }

  async #serverName(
    envelope: RequestEnvelope | undefined,
    channel: ClientChannel,
  ): Promise<string | undefined> {
    const { server } = this.#options
    const name = await server.known(channel.signal)
    if (name !== undefined || envelope === undefined || channel.signal.aborted) return name
    if (server.isMissing) this.#discover(envelope, channel)
    return server.known(channel.signal)
  }

  /** Asks the server for its name: no request of revision 2026-07-28 has to come before a call. */
  #discover({ meta }: RequestEnvelope, { sendToServer }: ClientChannel): void {
    if (sendToServer === undefined) return
    const { server, clock } = this.#options
    const id = `hookhelm-${randomUUID()}`
    const key = requestKey(id) ?? id
    const { progressToken: _, ...described } = meta
    server.expect()
    this.calls.set(key, { kind: 'own_discover', id })
    sendToServer(
      JSON.stringify({ jsonrpc: '2.0', id, method: 'server/discover', params: { _meta: described } }),
    )
    const cancelTimer = after(clock, DISCOVER_MS, () => void this.failPending('no answer', [key]))
    this.#runInBackground(server.known(never).then(cancelTimer))
  }

  #initialize({ params }: RpcMessage): void {
    const { clientInfo, capabilities, protocolVersion } = isRecord(params) ? params : {}
    this.#client.info = {
      ...clientInfoOf(clientInfo, capabilities),
      ...(typeof protocolVersion === 'string' ? { version: protocolVersion } : {}),
    }
    this.#client.hasInitialized = true
    this.#start()
  }

  #beginStateless({ agent, version, canAsk }: RequestEnvelope): void {
    this.#client.isStateless = true
    if (!this.#client.hasInitialized) this.#client.info = { canAsk, version, ...definedFields({ agent }) }
    this.#start()
  }

  #start(): void {
    if (this.#client.hasStarted) return
    this.#client.hasStarted = true
    const { cwd } = this.#options
    const payload = { source: 'startup', ...definedFields({ cwd }) }
    this.#observe({ event: 'session_start', payload }, this.#client.info)
  }

  #noticeTools(result: unknown): void {
    this.#shared.toolHeaders.learn(result)
    const name = this.#options.server.now ?? serverNameOf(result)
    for (const event of this.#shared.toolChanges.notice(result, name)) this.#observe(event, this.#client.info)
  }

  /** The call whose result the client fetches. The result of a call that the proxy did not see is checked too. */
  #taskCall(id: unknown, { params }: RpcMessage): McpToolCall {
    const call = this.#shared.tasks.get(isRecord(params) ? params.taskId : undefined) ?? this.#unknownCall()
    return { ...call, id, isTask: false }
  }

  #unknownCall(): McpToolCall {
    const useId = randomUUID()
    return {
      kind: 'call',
      id: null,
      tool: mcpToolName(this.#options.server.now ?? 'unknown', 'unknown'),
      input: {},
      useId,
      began: this.#options.clock.elapsed(),
      isTask: false,
      request: undefined,
      envelope: this.#envelope(this.#client.info, { toolCall: useId }),
      context: [],
    }
  }

  #envelope(
    { agent: named, version }: McpClientInfo,
    { toolCall, meta }: { toolCall?: string; meta?: RpcMessage | undefined } = {},
  ): Envelope {
    const { cwd, agent = named } = this.#options
    const traceparent = traceparentOf(meta)
    return {
      session: this.#client.id,
      host: 'mcp',
      ...definedFields({ agent, cwd, hostVersion: version, toolCall, traceparent }),
      ...(meta && { raw: { _meta: meta } }),
    }
  }
}

const NOT_INITIALIZED = 'initialize comes first; or start the proxy with --name'
const NAMELESS = 'the server does not tell its name; start the proxy with --name'
const never = new AbortController().signal

function isSettled(
  disposition: MessageDisposition | Promise<MessageDisposition>,
): disposition is MessageDisposition {
  return !(disposition instanceof Promise)
}

function refusal(id: unknown, why: string): MessageDisposition {
  return { kind: 'drop', answer: rpcErrorText(id, rpcCodes.invalid, why) }
}
