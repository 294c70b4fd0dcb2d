import { LRUCache } from 'lru-cache'
import type { Reading } from '../../agents/agent.ts'
import type { Envelope } from '../../engine/core/context.ts'
import { stableJson } from '../../engine/core/stable-json.ts'
import { timeUuid } from '../../safe/time-uuid.ts'

/** Joins the events of one session of a coding agent: turn, tool call, sub-agent and how deep it is. */
export interface Sessions {
  /** The envelope with what the client did not say and earlier events tell. */
  join(where: Where, event: string, reading: Reading): Envelope
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
  readonly lanes: Map<string, Lane>
  /** Who called a tool that starts sub-agents, and none has started since. */
  readonly spawning: (string | undefined)[]
  /** The last tool call, for events about it that do not name it. */
  call: { readonly id: string; readonly what: string } | undefined
  /** The root, where sub-agents have sessions of their own. */
  readonly root: string | undefined
}

const MAX_SESSIONS = 10_000
const MAX_LANES = 1_000
/** Tools that start a sub-agent, under the names hooks see. */
const spawns = new Set(['Agent', 'Task'])

export function createSessions(): Sessions {
  const sessions = new LRUCache<string, Session>({ max: MAX_SESSIONS })
  const of = (key: string, parent: string | undefined): Session => {
    const known = sessions.get(key)
    if (known !== undefined) return known
    const fresh: Session = { turn: undefined, lanes: new Map(), spawning: [], call: undefined, root: parent }
    sessions.set(key, fresh)
    return fresh
  }

  return {
    join({ tenant, agent, now }, event, reading) {
      const named = { ...reading.envelope, agent, host: agent }
      const { session: id } = named
      if (id === undefined) return named
      const key = (session: string) => `${tenant}\0${agent}\0${session}`
      const own = of(key(id), reading.parentSession)
      const isChild = own.root !== undefined && own.root !== id
      const session = isChild ? of(key(own.root), undefined) : own
      const root = isChild ? own.root : id
      const lane = named.lane ?? (isChild ? id : undefined)
      if (event === 'user_prompt_submit' && lane === undefined) session.turn = named.turn ?? timeUuid(now)
      const { depth, parent } = placeOf(session, lane)
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
  }
}

/** A lane that nobody announced, because we came later than it, counts as a child of the agent itself. */
function placeOf(session: Session, lane: string | undefined): Lane {
  if (lane === undefined) return { parent: undefined, depth: 0 }
  return session.lanes.get(lane) ?? begin(session, lane)
}

function begin(session: Session, lane: string | undefined): Lane {
  const parent = session.spawning.shift()
  const place = { parent, depth: (parent === undefined ? 0 : (session.lanes.get(parent)?.depth ?? 0)) + 1 }
  if (lane === undefined) return place
  if (session.lanes.size >= MAX_LANES) session.lanes.clear()
  session.lanes.set(lane, place)
  return place
}

function startedLane({ payload }: Reading): string | undefined {
  return typeof payload.agent_id === 'string' ? payload.agent_id : undefined
}

function note(
  session: Session,
  event: string,
  lane: string | undefined,
  toolCall: string | undefined,
  { payload }: Reading,
): void {
  if (event !== 'pre_tool_use') return
  if (typeof payload.tool_name === 'string' && spawns.has(payload.tool_name)) {
    if (session.spawning.length >= MAX_LANES) session.spawning.length = 0
    session.spawning.push(lane)
  }
  session.call = toolCall === undefined ? undefined : { id: toolCall, what: whatOf(payload) }
}

/** A permission that is asked for a call names its tool and arguments, and not always its id. */
function callOf(session: Session, event: string, { payload }: Reading): string | undefined {
  if (event !== 'permission_request') return undefined
  return session.call?.what === whatOf(payload) ? session.call.id : undefined
}

function whatOf({ tool_name, tool_input }: Readonly<Record<string, unknown>>): string {
  return `${String(tool_name)} ${stableJson(tool_input ?? null)}`
}
