import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { NativeReading } from '../../agents/agent-adapter.ts'
import type { Envelope } from '../../engine/core/context.ts'
import { stableJson } from '../../engine/core/stable-json.ts'
import { timeUuid } from '../../safe/time-uuid.ts'

/** Joins the events of one session of a coding agent: turn, tool call, sub-agent and how deep it is. */
export interface Sessions {
  /** The envelope with what the client did not say and earlier events tell. */
  join(where: Where, event: string, reading: NativeReading): Envelope
  /** The folder where a session was first seen; `/` is none. */
  startOf(where: Where, envelope: Envelope, folder: string): string
  /** A call that was joined does not take place: it starts nobody. */
  refused(where: Where, envelope: Envelope): void
}

interface Where {
  readonly tenant: string
  readonly agent: string
  readonly now: number
}

interface Lane {
  readonly parent: string | undefined
  readonly depth: number
}

interface Session {
  turn: string | undefined
  start: string | undefined
  readonly lanes: Map<string, Lane>
  /** Calls of a tool that starts sub-agents, for which none has started yet. */
  spawning: readonly Spawning[]
  /** The last tool call, for events about it that do not name it. */
  call: { readonly id: string; readonly what: string } | undefined
  /** The session it was started from, where sub-agents have sessions of their own. */
  readonly above: string | undefined
}

interface Spawning {
  readonly lane: string | undefined
  readonly call: string | undefined
}

const MAX_SESSIONS = 10_000
const MAX_LANES = 1_000
const MAX_SPAWNING = 100
/** Sessions that were started from one another; what names itself above itself ends here too. */
const MAX_ABOVE = 16
/** Tools that start a sub-agent, under the names hooks see. */
const spawns = new Set(['Agent', 'Task'])
/** A call that is over has started whom it wanted to, if anybody. */
const ends = new Set(['post_tool_use', 'post_tool_use_failure', 'permission_denied'])

export function createSessions(): Sessions {
  const sessions = new LRUCache<string, Session>({ max: MAX_SESSIONS })
  const of = (key: string, above: string | undefined): Session => {
    const known = sessions.get(key)
    if (known !== undefined) return known
    const fresh: Session = {
      turn: undefined,
      start: undefined,
      lanes: new Map(),
      spawning: [],
      call: undefined,
      above,
    }
    sessions.set(key, fresh)
    return fresh
  }
  const keyIn =
    ({ tenant, agent }: Where) =>
    (session: string) =>
      `${tenant}\0${agent}\0${session}`

  return {
    join(where, event, reading) {
      const { agent, now } = where
      const named = { ...reading.envelope, agent, host: agent }
      const { session: id } = named
      if (id === undefined) return named
      const key = keyIn(where)
      const own = of(key(id), reading.parentSession)
      const root = rootOf(id, (session) => sessions.get(key(session))?.above)
      const session = root === id ? own : of(key(root), undefined)
      const lane = named.lane ?? (root === id ? undefined : id)
      if (event === 'user_prompt_submit' && lane === undefined) {
        session.turn = named.turn ?? timeUuid(now)
        session.spawning = []
      }
      const { depth, parent } = placeOf(session, lane, own.above === root ? undefined : own.above)
      if (event === 'subagent_start') {
        const started = startedLane(reading)
        begin(session, started)
        // Some agents give a sub-agent a session of its own, under the name of its lane.
        if (started !== undefined) of(key(started), root)
      }
      const toolCall = named.toolCall ?? callOf(session, event, reading)
      note(session, event, lane, toolCall, reading)
      const turn = named.turn ?? session.turn
      return {
        ...named,
        session: root,
        ...(turn === undefined ? {} : { turn }),
        ...(lane === undefined ? {} : { lane, parentAgent: parent ?? agent, depth }),
        ...(toolCall === undefined ? {} : { toolCall }),
      }
    },
    startOf(where, { session: id }, folder) {
      if (id === undefined) return folder
      const session = of(keyIn(where)(id), undefined)
      if (folder !== '/') session.start ??= folder
      return session.start ?? folder
    },
    refused(where, { session: id, lane, toolCall }) {
      const session = id === undefined ? undefined : sessions.get(keyIn(where)(id))
      if (session === undefined) return
      const last = session.spawning.findLastIndex((each) => each.lane === lane && each.call === toolCall)
      session.spawning = session.spawning.filter((_, index) => index !== last)
    },
  }
}

function rootOf(id: string, aboveOf: (session: string) => string | undefined): string {
  let root = id
  for (let steps = 0; steps < MAX_ABOVE; steps++) {
    const above = aboveOf(root)
    if (above === undefined || above === id) break
    root = above
  }
  return root
}

/** A lane that nobody announced, because we came later than it, counts as a child of the agent itself. */
function placeOf(session: Session, lane: string | undefined, above: string | undefined): Lane {
  if (lane === undefined) return { parent: undefined, depth: 0 }
  return session.lanes.get(lane) ?? begin(session, lane, above)
}

function begin(session: Session, lane: string | undefined, above?: string): Lane {
  const [caller, ...others] = session.spawning
  session.spawning = others
  // One that starts again is where it was.
  const known = lane === undefined ? undefined : session.lanes.get(lane)
  if (known !== undefined) return known
  const parent = above ?? caller?.lane
  const place = { parent, depth: (parent === undefined ? 0 : (session.lanes.get(parent)?.depth ?? 0)) + 1 }
  if (lane === undefined) return place
  if (session.lanes.size >= MAX_LANES) session.lanes.clear()
  session.lanes.set(lane, place)
  return place
}

function startedLane({ payload }: NativeReading): string | undefined {
  return typeof payload.agent_id === 'string' ? payload.agent_id : undefined
}

function note(
  session: Session,
  event: string,
  lane: string | undefined,
  toolCall: string | undefined,
  { payload }: NativeReading,
): void {
  if (ends.has(event) && toolCall !== undefined)
    session.spawning = session.spawning.filter(({ call }) => call !== toolCall)
  if (event !== 'pre_tool_use') return
  if (typeof payload.tool_name === 'string' && spawns.has(payload.tool_name))
    session.spawning = [...session.spawning.slice(1 - MAX_SPAWNING), { lane, call: toolCall }]
  session.call = toolCall === undefined ? undefined : { id: toolCall, what: whatOf(payload) }
}

/** A permission that is asked for a call names its tool and arguments, and not always its id. */
function callOf(session: Session, event: string, { payload }: NativeReading): string | undefined {
  if (event !== 'permission_request') return undefined
  return session.call?.what === whatOf(payload) ? session.call.id : undefined
}

/** Short: thousands of sessions each remember one, and arguments may hold whole files. */
function whatOf({ tool_name, tool_input }: Readonly<Record<string, unknown>>): string {
  return createHash('sha256')
    .update(`${String(tool_name)} ${stableJson(tool_input ?? null)}`)
    .digest('base64url')
}
