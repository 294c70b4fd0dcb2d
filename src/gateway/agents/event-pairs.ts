import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../../access/caller.ts'
import type { AgentAdapter, NativeEvent, NativePayload, NativeReading } from '../../agents/agent-adapter.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { stableJson } from '../../engine/core/values/stable-json.ts'
import { type Catalogue, catalogue } from '../../engine/events/catalogue.ts'

/**
 * One call is one event, also for an agent that is connected in its own settings and in those of another agent that it reads
 * too: it then sends everything twice, and the second is answered from the first.
 */
export interface EventPairs {
  /** The decision about the other event of the pair, which then belongs to it; undefined if this event is the first. */
  findFirst(event: PairedEvent): FirstDecision | undefined
  /** Remembers the decision about an event that is the first of its pair. */
  begin(event: PairedEvent, decision: Promise<Decision>): void
}

export interface PairedEvent {
  readonly caller: Caller
  readonly agent: AgentAdapter
  /** The agent whose settings have the hook that sent it. */
  readonly settingsOf: string
  readonly event: keyof Catalogue
  readonly row: NativeEvent
  readonly native: NativePayload
  readonly reading: NativeReading
}

interface FirstDecision {
  readonly settingsOf: string
  readonly decision: Promise<PairedDecision>
}

type PairedDecision = Pick<
  Decision,
  'kind' | 'reason' | 'message' | 'grant' | 'input' | 'original' | 'context'
>

interface FirstEvent extends FirstDecision {
  /** What was decided about, as it was sent and as the hooks changed it: the agent shows the second hook the change of the first. */
  readonly subjects: Set<string>
  state: 'waits' | 'passed' | 'blocked'
}

const MAX_MOMENTS = 5_000

/** After a block the agent asks no further hook, so that one is the last that a second event belongs to. */
const rank = { passed: 0, waits: 1, blocked: 2 } as const

export function createEventPairs(): EventPairs {
  const moments = new LRUCache<string, readonly FirstEvent[]>({ max: MAX_MOMENTS })
  return {
    findFirst(event) {
      const key = momentOf(event)
      if (key === undefined) return undefined
      const all = moments.get(key) ?? []
      const subject = subjectOf(event.reading.payload)
      const [first] = all
        .filter(({ settingsOf, subjects }) => settingsOf !== event.settingsOf && subjects.has(subject))
        .sort((a, b) => rank[a.state] - rank[b.state])
      if (first !== undefined)
        moments.set(
          key,
          all.filter((each) => each !== first),
        )
      return first
    },
    begin(event, decision) {
      const key = momentOf(event)
      if (key === undefined) return
      const { payload } = event.reading
      const kept = decision.then(({ kind, reason, message, grant, input, original, context }) => {
        first.state = kind === 'block' ? 'blocked' : 'passed'
        const { rewrites } = catalogue[event.event]
        if (input !== undefined && rewrites !== undefined)
          first.subjects.add(subjectOf({ ...payload, [rewrites]: input }))
        // The model has it already.
        const told = event.row.honours?.includes('context') ? undefined : context
        return definedFields({ kind, reason, message, grant, input, original, context: told })
      })
      const first: FirstEvent = {
        ...{ settingsOf: event.settingsOf, decision: kept, state: 'waits' },
        subjects: new Set([subjectOf(payload)]),
      }
      moments.set(key, [...(moments.get(key) ?? []), first])
      // An event without a decision has failed, and so has its call.
      kept.catch(() =>
        moments.set(
          key,
          (moments.get(key) ?? []).filter((each) => each !== first),
        ),
      )
    },
  }
}

/** Both events of a pair, and calls that are made at once, are of the same moment, by one caller in one folder. */
function momentOf({ caller, agent, event, native, reading }: PairedEvent): string | undefined {
  const { session, cwd } = reading.envelope
  const moment = agent.momentOf?.(native)
  return session === undefined || moment === undefined
    ? undefined
    : JSON.stringify([caller.tenant, caller.id, agent.name, session, cwd, event, moment])
}

/** A digest, because arguments may hold whole files. */
function subjectOf({ tool_name, tool_input, prompt }: NativeReading['payload']): string {
  return createHash('sha256')
    .update(stableJson([tool_name, tool_input, prompt]))
    .digest('base64url')
}
