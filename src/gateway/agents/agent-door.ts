import type { Caller } from '../../access/caller.ts'
import type {
  AgentAdapter,
  NativeEvent,
  NativePayload,
  PluginReply,
  ProcessReply,
} from '../../agents/agent-adapter.ts'
import { identifyAgent } from '../../agents/identify-agent.ts'
import { agentAdapters, findAdapter } from '../../agents/table.ts'
import { deliverDecision } from '../../agents/translate/outcome.ts'
import type { PendingApproval } from '../../approvals/approvals.ts'
import type { Envelope } from '../../engine/core/context.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import type { RequestContext } from '../../pipeline/call.ts'
import { callerWait } from '../../pipeline/caller-wait.ts'
import type { CodingAgentCall, CodingAgentRuns } from '../../runs/coding-agents/coding-agent-runs.ts'
import type { RunRow } from '../../runs/stored/run-tables.ts'
import { realFolder } from '../../stored-hooks/snapshots/event-folders.ts'
import type { SessionFolders } from '../../stored-hooks/snapshots/session-folders.ts'
import type { Dispatcher } from '../dispatch.ts'
import { AgentSessions, type EventSource } from './agent-sessions.ts'
import { createEventPairs, type PairedEvent } from './event-pairs.ts'

/** The largest native event: payloads hold whole files, and some the conversation. */
export const AGENT_LIMITS = { maxBytes: 8 * 1_048_576 + 65_536, maxKeys: 200_000, maxDepth: 128 } as const

/** An event in the native format of a coding agent. */
export interface AgentEventRequest {
  readonly event: string
  readonly native: unknown
  /** How long the client can wait for its answer, in milliseconds. */
  readonly withinMs?: number
  /** The approval that the client waited for when its connection was lost. */
  readonly approvalId?: string
  /** Proves that the agent works for a run. */
  readonly run?: string
}

interface AgentEventOptions extends Omit<RequestContext, 'folder' | 'text' | 'decided' | 'wait' | 'process'> {
  /** The process of the agent, if the door can find out. */
  findProcess?(): string | undefined
  /** Tells the client that a person is being asked. */
  onPending?(pending: PendingApproval): void
  /** The agent belongs to the gateway's user, so the hook files of the folder that it names apply. */
  readonly isLocal: boolean
  /** The idempotency key of the event. */
  readonly key?: string
  /** The client decided without the gateway, so the event is only recorded. */
  readonly isPast?: PastEvent
}

/** What a client says about an event that it decided by itself. */
export interface PastEvent {
  readonly why: string
  /** `gateway.unreachable` if no gateway listened, or it ended the connection. */
  readonly code: string | undefined
  readonly blocked: boolean
}

export type AgentReply = ProcessReply | PluginReply

interface AgentDoorParts {
  readonly dispatcher: Dispatcher
  readonly sessionFolders: SessionFolders
  /** The runs whose hooks must see their tool calls. */
  readonly runs?: Pick<CodingAgentRuns, 'find'>
  /** The run of any event that may trigger a recovery rule: the depth of its run ends a chain of rules. */
  runOfTrigger?(tenant: string, session: string): Promise<RunRow | undefined>
  readonly clock: Clock
  readonly log: Log
}

const MAX_UNKNOWN = 1_000
/** Events before a tool call: a block prevents the call. */
const beforeCall: ReadonlySet<string> = new Set(['pre_tool_use', 'permission_request'])

/** Decides events of coding agents in their native format. */
export class AgentDoor {
  readonly #parts: AgentDoorParts
  readonly #sessions = new AgentSessions()
  readonly #pairs = createEventPairs()
  readonly #unknown = new Set<string>()

  constructor(parts: AgentDoorParts) {
    this.#parts = parts
  }

  /** Resolves with the reply in the format of the agent. Rejects with a coded error if the payload is unreadable. */
  async decide(
    caller: Caller,
    connected: AgentAdapter,
    request: AgentEventRequest,
    options: AgentEventOptions,
  ): Promise<AgentReply> {
    const { native } = request
    if (!isRecord(native)) throw serverError('gateway.request', 'native must be an object', { at: 'native' })
    const { agent, event: name } = identifyAgent(connected, request.event, native)
    const row = this.#rowOf(agent, name)
    const isPast = options.isPast !== undefined
    const reading = readNative(agent, name, { native, row, isPast })
    const event = reading.event ?? row.event ?? 'agent_event'
    const settingsOf = connected.name
    const sent = { caller, agent, settingsOf, event, row, native, reading }
    const first = isPast ? undefined : this.#pairs.findFirst(sent)
    const decision = first?.decision ?? this.#decideOnce(caller, sent, request, options)
    if (first === undefined && !isPast) this.#pairs.begin(sent, decision)
    return agent.reply(name, deliverDecision(await decision, row.honours ?? [], agent.title).outcome, native)
  }

  /** An unknown event cannot be decided: it is recorded as an observation, and logged once. */
  #rowOf(agent: AgentAdapter, event: string): NativeEvent {
    const row = Object.hasOwn(agent.events, event) ? agent.events[event] : undefined
    if (row !== undefined) return row
    const key = `${agent.name} ${event}`
    if (!this.#unknown.has(key) && this.#unknown.size < MAX_UNKNOWN) {
      this.#unknown.add(key)
      this.#parts.log('agent.unknown_event', { agent: agent.name, event: event.slice(0, 80) })
    }
    return {}
  }

  /** Without a folder, the hook files of the administrator and the user still apply. */
  async #agentFoldersOf(where: EventSource, { cwd: given, session }: Envelope, own?: string) {
    const { sessionFolders } = this.#parts
    const cwd = realFolder(given)
    if (session === undefined) return { cwd, start: cwd }
    const start = await sessionFolders.startOf({ ...where, session }, cwd)
    // After a restart the gateway no longer knows the parent of a sub-agent's session, so that session has a start too.
    if (own !== undefined && own !== session) await sessionFolders.startOf({ ...where, session: own }, start)
    return { cwd: cwd === '/' ? start : cwd, start }
  }

  #processOf(process: string | undefined) {
    return process === undefined ? {} : { process, processTurn: this.#sessions.turnOf(process) }
  }

  /** Decides an event that is not the second of a pair. */
  async #decideOnce(
    caller: Caller,
    { agent, event, reading, row }: PairedEvent,
    request: AgentEventRequest,
    { isLocal, key, isPast, onPending, findProcess, ...options }: AgentEventOptions,
  ): Promise<Decision> {
    const { dispatcher, clock, log } = this.#parts
    const where = { tenant: caller.tenant, agent: agent.name, now: clock.now() }
    const own = this.#sessions.join(where, event, reading)
    const called =
      beforeCall.has(event) && isPast === undefined
        ? await withRun(this.#parts, where, own, {
            ...{ proof: request.run, withinMs: request.withinMs, signal: options.signal },
          })
        : own
    const joined = called.run === undefined ? await withDepth(this.#parts, where, called) : called
    const { lane, turn } = joined
    if (event === 'user_prompt_submit' && lane === undefined && turn !== undefined) {
      const process = findProcess?.()
      if (process !== undefined) this.#sessions.beginTurn(process, turn)
    }
    const folder = isLocal ? await this.#agentFoldersOf(where, joined, reading.envelope.session) : undefined
    // Not every event of every agent names its folder: it is then the one where the session began.
    const place = folder === undefined || folder.start === '/' ? undefined : folder.start
    const envelope = place === undefined ? joined : { ...joined, cwd: joined.cwd ?? place, project: place }
    const canAsk = row.honours?.includes('ask') === true
    const { eventId, decision } = await dispatcher.dispatch(
      caller,
      {
        ...{ event, payload: reading.payload, envelope },
        ...(key === undefined ? {} : { idempotency_key: key }),
        ...(request.approvalId === undefined ? {} : { approval_id: request.approvalId }),
      },
      {
        ...options,
        ...(findProcess === undefined ? {} : { process: () => this.#processOf(findProcess()) }),
        ...{ canAsk, ...callerWait(request.withinMs, canAsk, onPending) },
        ...(folder === undefined ? {} : { folder }),
        ...(called === own ? {} : { isAgentProved: true }),
        ...(isPast === undefined ? {} : { decided: pastDecision(isPast) }),
      },
    )
    const { outcome, undelivered } = deliverDecision(decision, row.honours ?? [], agent.title)
    if (outcome.kind === 'block' && beforeCall.has(event)) this.#sessions.refuseCall(where, envelope)
    if (undelivered.length > 0 && isPast === undefined)
      log('agent.undelivered', { agent: agent.name, event, event_id: eventId, what: undelivered })
    return decision
  }
}

/**
 * Names the run that the agent works for. The event then belongs to the agent of the blueprint, and keeps the id of the coding
 * agent: hooks for either of them apply.
 */
async function withRun(
  { runs }: AgentDoorParts,
  { tenant, agent }: EventSource,
  envelope: Envelope,
  call: Pick<CodingAgentCall, 'proof' | 'withinMs' | 'signal'>,
): Promise<Envelope> {
  const { session, depth = 0 } = envelope
  const run = await runs?.find({ tenant, agent, session, ...call })
  if (run === undefined || run.agent_name === null) return envelope
  const { run_id, agent_name } = run
  return { ...envelope, run: run_id, agent: agent_name, agentId: agent, depth: depth + run.depth }
}

/** Adds the run and its depth. The event stays one of the coding agent. */
async function withDepth(
  { runOfTrigger }: AgentDoorParts,
  { tenant }: EventSource,
  envelope: Envelope,
): Promise<Envelope> {
  const { session, depth = 0 } = envelope
  const run = session === undefined ? undefined : await runOfTrigger?.(tenant, session)
  return run === undefined ? envelope : { ...envelope, run: run.run_id, depth: depth + run.depth }
}

/** The decision that a client made by itself because the gateway did not answer. */
function pastDecision({ why, code, blocked }: PastEvent): Decision {
  const cause =
    code === 'gateway.unreachable' ? 'gateway was down' : 'the client got no answer of the gateway'
  const reason = `${cause}: ${why || 'it gave no reason'}`
  return blocked
    ? { kind: 'block', reason, message: reason, code: 'gateway.unreachable' }
    : {
        kind: 'allow',
        reason: `${reason}; let through because of --fail-open`,
        code: 'gateway.unreachable',
      }
}

interface NativeRequest {
  readonly native: NativePayload
  readonly row: NativeEvent
  readonly isPast: boolean
}

/** A past event is recorded even if its payload cannot be read: the call was made, and the client decided it. */
function readNative(agent: AgentAdapter, name: string, { native, row, isPast }: NativeRequest) {
  if (row.event === undefined) return readObserved(agent, name, native)
  try {
    return agent.read(name, native)
  } catch (thrown) {
    if (!isPast) throw thrown
    return readObserved(agent, name, native)
  }
}

/** Reads an event that the gateway has no event for, with its session if the payload names one. */
function readObserved(agent: AgentAdapter, name: string, native: NativePayload) {
  try {
    const { envelope, parentSession } = agent.read(name, native)
    const parent = parentSession === undefined ? {} : { parentSession }
    return { event: 'agent_event' as const, payload: { ...native, name }, envelope, ...parent }
  } catch {
    const { session_id: session } = native
    // An unreadable session would make the event unreadable as well.
    const named = typeof session === 'string' && /^.{1,500}$/s.test(session) ? { session } : {}
    return {
      event: 'agent_event' as const,
      payload: { ...native, name },
      envelope: { raw: native, ...named },
    }
  }
}

/** Returns the adapter with this name, or throws an error that lists the names. */
export function requireAgent(name: unknown): AgentAdapter {
  const agent = typeof name === 'string' ? findAdapter(name) : undefined
  if (agent !== undefined) return agent
  throw serverError('gateway.request', `there is no coding agent ${String(name).slice(0, 80)}`, {
    at: 'agent',
    hint: `Known agents: ${agentAdapters.map((known) => known.name).join(', ')}.`,
  })
}
