import { randomUUID } from 'node:crypto'
import { mcpToolName } from '../agents/translate/tool-names.ts'
import { after } from '../engine/core/after.ts'
import { isRecord } from '../engine/core/check.ts'
import type { Envelope } from '../engine/core/context.ts'
import { answersOf } from './answers.ts'
import { ApprovalRequests, canAsk } from './ask.ts'
import { Calls, type McpToolCall } from './calls.ts'
import { CallGate, type GateOptions } from './gate.ts'
import { type AdmittedMessage, assembleMessage, type Fate, passed } from './passage.ts'
import { errorResult } from './result.ts'
import { rpcCodes, rpcErrorText, rpcResultText } from './rpc/answer.ts'
import type { CallItem, Item, Packet, RpcMessage } from './rpc/packet.ts'
import type { ServerName } from './server-name.ts'

export interface SessionOptions extends GateOptions {
  readonly server: ServerName
  /** Instead of the name that the client gives itself. */
  readonly agent?: string
  readonly cwd?: string
}

/** What the client said of itself. */
interface ClientFacts {
  readonly agent?: string
  readonly version?: string
  /** It can ask a person. */
  readonly asks: boolean
}

/** Who speaks; the same for all exchanges of one client. */
interface Who {
  readonly id: string
  readonly asks: ApprovalRequests
  client: ClientFacts
}

/** The way back to the client while a packet of its is being decided. */
export interface Link {
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal
  /** Sends the client something beside the answer, where there is a way. */
  readonly send?: (text: string) => void
}

const FAREWELL_MS = 1_000

/** One client and one server, and everything that is under way between them. */
export class Session {
  readonly calls = new Calls()
  readonly #options: SessionOptions
  readonly #gate: CallGate
  readonly #who: Who
  /** What runs beside, for nobody to wait for but the end. */
  readonly #beside = new Set<Promise<unknown>>()
  #hasBegun = false

  constructor(options: SessionOptions, who?: Who) {
    this.#options = options
    this.#gate = new CallGate(options)
    this.#who = who ?? {
      id: randomUUID(),
      asks: new ApprovalRequests(options.clock),
      client: { asks: false },
    }
  }

  /** The same client in another exchange, where its ids may mean something else. */
  sibling(): Session {
    return new Session(this.#options, this.#who)
  }

  /** What of a client's packet goes to the server, and what the client is answered. At once where no hook is asked. */
  admit(packet: Packet, link: Link): AdmittedMessage | Promise<AdmittedMessage> {
    const fates = packet.items.map((item) => this.#admitItem(item, link))
    const settled = fates.filter(isSettled)
    if (settled.length === fates.length) return assembleMessage(packet, settled, this.calls)
    return Promise.all(fates).then((all) => assembleMessage(packet, all, this.calls))
  }

  /** What the client gets for a message of the server: at once and the same bytes where it is no result of a tool. */
  pass(raw: Buffer, isResumed = false): Buffer | undefined | Promise<Buffer | undefined> {
    if (this.calls.isEmpty && !isResumed) return raw
    return answersOf(raw, {
      calls: this.calls,
      gate: this.#gate,
      server: this.#options.server,
      envelope: (call) => this.#envelope(call?.useId),
      tell: (line) => this.#options.tell(line),
      ...(isResumed ? { stranger: () => this.#strangerCall() } : {}),
    })
  }

  /** The client sends nothing more, and so no answer of a person. */
  stopAsking(): void {
    this.#who.asks.close()
  }

  /** Nobody waits any more. Tells the hooks, but not for long. */
  async end(reason: string): Promise<void> {
    this.calls.abandon()
    const late = new AbortController()
    const lateness = Promise.withResolvers<void>()
    const callOff = after(this.#options.clock, FAREWELL_MS, () => {
      late.abort()
      lateness.resolve()
    })
    const payload = { reason }
    if (this.#hasBegun)
      this.#aside(this.#gate.observe({ event: 'session_end', payload }, this.#envelope(), late.signal))
    this.#hasBegun = false
    await Promise.race([Promise.allSettled(this.#beside), lateness.promise])
    callOff()
  }

  /** Nobody will answer these, or nothing any more: their ids. */
  lose(why: string, keys?: readonly string[]): readonly unknown[] {
    const lost = this.calls.abandon(keys)
    for (const entry of lost)
      if (entry.kind === 'call') this.#aside(this.#gate.failed(entry, why, this.#envelope(entry.useId)))
    return lost.map(({ id }) => id)
  }

  #aside(work: Promise<unknown>): void {
    this.#beside.add(work)
    void work.finally(() => this.#beside.delete(work))
  }

  #admitItem(item: Item, link: Link): Fate | Promise<Fate> {
    if (item.kind === 'notification') return passed
    if (item.kind === 'answer') return this.#who.asks.take(item.id, item.message) ? { kind: 'drop' } : passed
    if (item.kind === 'cancelled') return this.#cancel(item.key)
    const { id, key } = item
    // An answer could not be told from that of the other.
    if (this.calls.has(key)) return refusal(id, 'a request with this id is under way')
    if (this.calls.isFull) return refusal(id, 'too many requests are under way')
    if (item.kind === 'call') return this.#decide(item, link)
    if (item.kind === 'initialize') this.#begin(item.message)
    const taskCall = item.kind === 'task_result' ? this.#taskCall(id, item.message) : undefined
    this.calls.put(key, taskCall ?? { kind: item.kind === 'initialize' ? 'initialize' : 'other', id })
    return passed
  }

  #cancel(key: string | undefined): Fate {
    const entry = key === undefined ? undefined : this.calls.get(key)
    if (key === undefined || entry === undefined) return passed
    if (entry.kind === 'other') this.calls.forget(key)
    if (entry.kind !== 'held') return passed
    // The server never saw the request, and must not be told to forget it.
    entry.abort.abort()
    this.calls.forget(key)
    return { kind: 'drop' }
  }

  async #decide(item: CallItem, link: Link): Promise<Fate> {
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, link.signal])
    const held = { kind: 'held', id: item.id, abort } as const
    this.calls.put(item.key, held)
    const fate = await this.#judge(item, { ...link, signal })
    // Who cancelled it waits for no answer; and the id may be in use again.
    if (signal.aborted) {
      if (this.calls.get(item.key) === held) this.calls.forget(item.key)
      return { kind: 'drop' }
    }
    if (fate.kind === 'pass') return { ...fate, held }
    this.calls.forget(item.key)
    return fate
  }

  async #judge(item: CallItem, link: Link): Promise<Fate> {
    const { id, key, message, params } = item
    const server = await this.#options.server.known(link.signal)
    if (server === undefined) return refusal(id, 'initialize comes first, or start the proxy with --name')
    const isTask = params.task !== undefined
    const call = { tool: mcpToolName(server, item.name), input: item.input, useId: useIdOf(params) }
    const verdict = await this.#gate.before(call, this.#envelope(call.useId), link.signal)
    const input = verdict.input ?? item.input
    const blocked = verdict.kind === 'ask' ? await this.#ask({ ...call, input }, verdict.text, link) : verdict
    if (blocked.kind === 'block') return { kind: 'drop', answer: blockedAnswer(id, blocked.text, isTask) }
    const { context, opened } = verdict
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
    if (verdict.input === undefined) return { kind: 'pass', key, call: sent }
    const text = JSON.stringify({ ...message, params: { ...params, arguments: input } })
    return { kind: 'pass', key, call: sent, text }
  }

  async #ask(
    { tool, input }: Pick<McpToolCall, 'tool' | 'input'>,
    text: string,
    { send, signal }: Link,
  ): Promise<{ readonly kind: 'allow' | 'block'; readonly text: string }> {
    if (!this.#who.client.asks || send === undefined)
      return {
        kind: 'block',
        text: `hookhelm: blocked, a person must agree and this client cannot ask: ${text}`,
      }
    const agreed = await this.#who.asks.ask({ text, tool, input }, send, signal)
    return agreed
      ? { kind: 'allow', text }
      : { kind: 'block', text: `hookhelm: the person did not agree: ${text}` }
  }

  #begin({ params }: RpcMessage): void {
    const { clientInfo, capabilities, protocolVersion } = isRecord(params) ? params : {}
    const name = isRecord(clientInfo) ? clientInfo.name : undefined
    this.#who.client = {
      asks: canAsk(capabilities),
      ...(typeof name === 'string' ? { agent: name } : {}),
      ...(typeof protocolVersion === 'string' ? { version: protocolVersion } : {}),
    }
    this.#options.server.expect()
    if (this.#hasBegun) return
    this.#hasBegun = true
    const { cwd } = this.#options
    const payload = { source: 'startup', ...(cwd === undefined ? {} : { cwd }) }
    this.#aside(this.#gate.observe({ event: 'session_start', payload }, this.#envelope(), never))
  }

  /** The call whose result `tasks/result` asks for; the result of one that we did not see is a result all the same. */
  #taskCall(id: unknown, { params }: RpcMessage): McpToolCall {
    const call = this.calls.task(isRecord(params) ? params.taskId : undefined) ?? this.#strangerCall()
    return { ...call, id, isTask: false }
  }

  #strangerCall(): McpToolCall {
    const tool = mcpToolName(this.#options.server.now ?? 'unknown', 'unknown')
    const began = this.#options.clock.elapsed()
    return { kind: 'call', id: null, tool, input: {}, useId: randomUUID(), began, isTask: false, context: [] }
  }

  #envelope(toolCall?: string): Envelope {
    const agent = this.#options.agent ?? this.#who.client.agent
    const { cwd } = this.#options
    const { version } = this.#who.client
    return {
      session: this.#who.id,
      host: 'mcp',
      ...(agent === undefined ? {} : { agent }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(version === undefined ? {} : { hostVersion: version }),
      ...(toolCall === undefined ? {} : { toolCall }),
    }
  }
}

const never = new AbortController().signal

function isSettled(fate: Fate | Promise<Fate>): fate is Fate {
  return !(fate instanceof Promise)
}

/** The id that the agent itself gave the call, where its client says so. */
function useIdOf({ _meta: meta }: RpcMessage): string {
  const given = isRecord(meta) ? meta['claudecode/toolUseId'] : undefined
  return typeof given === 'string' && given.length <= 256 ? given : randomUUID()
}

function refusal(id: unknown, why: string): Fate {
  return { kind: 'drop', answer: rpcErrorText(id, rpcCodes.invalid, why) }
}

function blockedAnswer(id: unknown, text: string, isTask: boolean): string {
  if (!isTask) return rpcResultText(id, errorResult(text))
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: rpcCodes.blocked, message: text } })
}
