import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { NativeReading } from '../../agents/agent-adapter.ts'
import type { Envelope } from '../../engine/core/context.ts'
import { stableJson } from '../../engine/core/values/stable-json.ts'
import { timeUuid } from '../../safe/time-uuid.ts'

export interface EventSource {
  readonly tenant: string
  readonly agent: string
  readonly now: number
}

/** The position of one sub-agent in its session. */
interface Lane {
  readonly parent: string | undefined
  readonly depth: number
}

interface Session {
  turn: string | undefined
  readonly lanes: Map<string, Lane>
  /** Tool calls that start a sub-agent which has not started yet. */
  spawning: readonly Spawning[]
  /** The last tool call, for later events that do not carry its id. */
  call: { readonly id: string; readonly digest: string } | undefined
  /** The session that started this one, for agents whose sub-agents have sessions. */
  readonly parent: string | undefined
}

interface Spawning {
  readonly lane: string | undefined
  readonly call: string | undefined
}

const MAX_SESSIONS = 10_000
const MAX_LANES = 1_000
const MAX_SPAWNING = 100
/** Limits the walk to the root session; it also ends cycles. */
const MAX_ANCESTORS = 16
/** Tools that start a sub-agent, by their canonical names. */
const spawningTools = new Set(['Agent', 'Task'])
/** Events after which a tool call starts no further sub-agent. */
const callEnds = new Set(['post_tool_use', 'post_tool_use_failure', 'permission_denied'])

/** Connects the events of one coding agent session: turn, tool call, sub-agent and its depth. */
export class AgentSessions {
  readonly #sessions = new LRUCache<string, Session>({ max: MAX_SESSIONS })
  readonly #turns = new LRUCache<string, string>({ max: MAX_SESSIONS })

  /** Completes the envelope with values from earlier events of the session. */
  join(source: EventSource, event: string, reading: NativeReading): Envelope {
    const { agent, now } = source
    const named = { ...reading.envelope, agent, host: agent }
    const { session: id } = named
    if (id === undefined) return named
    const key = keyIn(source)
    const own = this.#sessionOf(key(id), reading.parentSession)
    const root = rootOf(id, (session) => this.#sessions.get(key(session))?.parent)
    const session = root === id ? own : this.#sessionOf(key(root), undefined)
    const lane = named.lane ?? (root === id ? undefined : id)
    if (event === 'user_prompt_submit' && lane === undefined) {
      session.turn = named.turn ?? timeUuid(now)
      session.spawning = []
    }
    const { depth, parent } = findLane(session, lane, own.parent === root ? undefined : own.parent)
    if (event === 'subagent_start') {
      const started = startedLane(reading)
      beginLane(session, started)
      // Some agents give a sub-agent its own session, with the lane as its id.
      if (started !== undefined) this.#sessionOf(key(started), root)
    }
    const toolCall = named.toolCall ?? lastCallOf(session, event, reading)
    recordToolCall(session, event, { lane, toolCall, reading })
    const turn = named.turn ?? session.turn
    return {
      ...named,
      session: root,
      ...(turn === undefined ? {} : { turn }),
      ...(lane === undefined ? {} : { lane, parentAgent: parent ?? agent, depth }),
      ...(toolCall === undefined ? {} : { toolCall }),
    }
  }

  /** A prompt begins a turn of the process, whatever session it names. */
  beginTurn(process: string, turn: string): void {
    this.#turns.set(process, turn)
  }

  /** The latest turn of the process; empty if it has begun none. */
  turnOf(process: string): string {
    return this.#turns.get(process) ?? ''
  }

  /** Records that a tool call was blocked, so it starts no sub-agent. */
  refuseCall(source: EventSource, { session: id, lane, toolCall }: Envelope): void {
    const session = id === undefined ? undefined : this.#sessions.get(keyIn(source)(id))
    if (session === undefined) return
    const last = session.spawning.findLastIndex((each) => each.lane === lane && each.call === toolCall)
    session.spawning = session.spawning.filter((_, index) => index !== last)
  }

  #sessionOf(key: string, parent: string | undefined): Session {
    const known = this.#sessions.get(key)
    if (known !== undefined) return known
    const fresh: Session = { turn: undefined, lanes: new Map(), spawning: [], call: undefined, parent }
    this.#sessions.set(key, fresh)
    return fresh
  }
}

function keyIn({ tenant, agent }: EventSource): (session: string) => string {
  return (session) => `${tenant}\0${agent}\0${session}`
}

function rootOf(id: string, parentOf: (session: string) => string | undefined): string {
  let root = id
  for (let steps = 0; steps < MAX_ANCESTORS; steps++) {
    const parent = parentOf(root)
    if (parent === undefined || parent === id) break
    root = parent
  }
  return root
}

/** A lane whose start the gateway did not see counts as a child of the main agent. */
function findLane(session: Session, lane: string | undefined, parent: string | undefined): Lane {
  if (lane === undefined) return { parent: undefined, depth: 0 }
  return session.lanes.get(lane) ?? beginLane(session, lane, parent)
}

function beginLane(session: Session, lane: string | undefined, parentSession?: string): Lane {
  const [caller, ...others] = session.spawning
  session.spawning = others
  // A sub-agent that starts again keeps its position.
  const known = lane === undefined ? undefined : session.lanes.get(lane)
  if (known !== undefined) return known
  const parent = parentSession ?? caller?.lane
  const begun = { parent, depth: (parent === undefined ? 0 : (session.lanes.get(parent)?.depth ?? 0)) + 1 }
  if (lane === undefined) return begun
  if (session.lanes.size >= MAX_LANES) session.lanes.clear()
  session.lanes.set(lane, begun)
  return begun
}

function startedLane({ payload }: NativeReading): string | undefined {
  return typeof payload.agent_id === 'string' ? payload.agent_id : undefined
}

interface ToolCallEvent {
  readonly lane: string | undefined
  readonly toolCall: string | undefined
  readonly reading: NativeReading
}

function recordToolCall(session: Session, event: string, { lane, toolCall, reading }: ToolCallEvent): void {
  const { payload } = reading
  if (callEnds.has(event) && toolCall !== undefined)
    session.spawning = session.spawning.filter(({ call }) => call !== toolCall)
  if (event !== 'pre_tool_use') return
  if (typeof payload.tool_name === 'string' && spawningTools.has(payload.tool_name))
    session.spawning = [...session.spawning.slice(1 - MAX_SPAWNING), { lane, call: toolCall }]
  session.call = toolCall === undefined ? undefined : { id: toolCall, digest: callDigest(payload) }
}

/** A permission request names the tool and its arguments, but not always the id of the call. */
function lastCallOf(session: Session, event: string, { payload }: NativeReading): string | undefined {
  if (event !== 'permission_request') return undefined
  return session.call?.digest === callDigest(payload) ? session.call.id : undefined
}

/** A digest, because arguments may hold whole files and thousands of sessions each keep one. */
function callDigest({ tool_name, tool_input }: Readonly<Record<string, unknown>>): string {
  return createHash('sha256')
    .update(`${String(tool_name)} ${stableJson(tool_input ?? null)}`)
    .digest('base64url')
}
