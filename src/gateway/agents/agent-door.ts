import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { AgentAdapter, NativeEvent, NativePayload } from '../../agents/agent-adapter.ts'
import { agentAdapters, findAdapter } from '../../agents/table.ts'
import { deliverDecision } from '../../agents/translate/outcome.ts'
import { isRecord } from '../../engine/core/check.ts'
import type { Clock } from '../../engine/core/clock.ts'
import type { Envelope } from '../../engine/core/context.ts'
import { HookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { Caller } from '../auth/caller.ts'
import type { Dispatcher, DispatchHow } from '../dispatch/dispatcher.ts'
import { createSessions } from '../sessions/sessions.ts'

/** An event as a coding agent sends it. */
export interface AgentRequest {
  readonly event: string
  readonly native: unknown
}

interface AgentHow extends Omit<DispatchHow, 'folder' | 'text'> {
  /** It runs on this machine as our own user, so that the hook files of its folder count. */
  readonly isLocal: boolean
  /** The same key is one event, however often it comes. */
  readonly key?: string
  /** It was decided without us, and can only be written down. */
  readonly isPast?: { readonly why: string; readonly blocked: boolean }
}

/** Coding agents speak their own language here, and are answered in it. */
export interface AgentDoor {
  /** The reply as JSON, in the shape that this client honours. Rejects with a coded error for what it cannot read. */
  ask(caller: Caller, agent: AgentAdapter, request: AgentRequest, how: AgentHow): Promise<string>
}

interface AgentDoorParts {
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly log: Log
}

const MAX_UNKNOWN = 1_000
/** Events before a call, which does not take place when they are blocked. */
const isCall: ReadonlySet<string> = new Set(['pre_tool_use', 'permission_request'])

export function createAgentDoor({ dispatcher, clock, log }: AgentDoorParts): AgentDoor {
  const sessions = createSessions()
  const unknown = new Set<string>()

  /** We cannot decide what we do not know: it is kept as an observation, and said once. */
  const rowOf = (agent: AgentAdapter, event: string): NativeEvent => {
    const row = Object.hasOwn(agent.events, event) ? agent.events[event] : undefined
    if (row !== undefined) return row
    const key = `${agent.name} ${event}`
    if (!unknown.has(key) && unknown.size < MAX_UNKNOWN) {
      unknown.add(key)
      log('agent.unknown_event', { agent: agent.name, event: event.slice(0, 80) })
    }
    return {}
  }

  /** Without a folder the files of the administrator and the user still count. */
  const placeOf = (where: Parameters<typeof sessions.join>[0], envelope: Envelope) => {
    const cwd = folderOf(envelope.cwd)
    return { cwd, start: sessions.startOf(where, envelope, cwd) }
  }

  return {
    async ask(caller, agent, { event: name, native }, { isLocal, key, isPast, ...how }) {
      if (!isRecord(native))
        throw serverError('gateway.request', 'native must be an object', { at: 'native' })
      const row = rowOf(agent, name)
      const isObserved = row.event === undefined || isPast !== undefined
      const reading = isObserved ? observed(agent, name, { ...native, ...isPast }) : agent.read(name, native)
      const event = reading.event ?? row.event ?? 'agent_event'
      const where = { tenant: caller.tenant, agent: agent.name, now: clock.now() }
      const envelope = sessions.join(where, event, reading)
      const { eventId, decision } = await dispatcher.dispatch(
        caller,
        { event, payload: reading.payload, envelope, ...(key === undefined ? {} : { idempotency_key: key }) },
        isLocal ? { ...how, folder: placeOf(where, envelope) } : how,
      )
      const { outcome, undelivered } = deliverDecision(decision, row.honours ?? [], agent.title)
      if (outcome.kind === 'block' && isCall.has(event)) sessions.refused(where, envelope)
      if (undelivered.length > 0)
        log('agent.undelivered', { agent: agent.name, event, event_id: eventId, what: undelivered })
      return JSON.stringify(agent.reply(name, outcome, native))
    },
  }
}

/** No system has a longer path. */
const MAX_PATH = 4_096

/** Where it really is: a link to a folder of a repository must not lead past the hooks of that repository. */
function folderOf(cwd: string | undefined): string {
  if (cwd === undefined || !isAbsolute(cwd) || cwd.includes('\0')) return '/'
  if (cwd.length > MAX_PATH)
    throw new HookError('input.schema', `cwd must have at most ${MAX_PATH} characters`, { at: 'cwd' })
  try {
    return realpathSync.native(cwd)
  } catch {
    // It is gone, or not to be looked at.
    return cwd
  }
}

/** Something that has no event of its own. Its session is told where it can be read. */
function observed(agent: AgentAdapter, name: string, native: NativePayload) {
  try {
    const { envelope, parentSession } = agent.read(name, native)
    const parent = parentSession === undefined ? {} : { parentSession }
    return { event: 'agent_event' as const, payload: { ...native, name }, envelope, ...parent }
  } catch {
    return { event: 'agent_event' as const, payload: { ...native, name }, envelope: { raw: native } }
  }
}

/** The adapter of a name, or an error that says which names there are. */
export function requireAgent(name: unknown): AgentAdapter {
  const agent = typeof name === 'string' ? findAdapter(name) : undefined
  if (agent !== undefined) return agent
  throw serverError('gateway.request', `there is no coding agent ${String(name).slice(0, 80)}`, {
    at: 'agent',
    hint: `There are ${agentAdapters.map((known) => known.name).join(', ')}.`,
  })
}
