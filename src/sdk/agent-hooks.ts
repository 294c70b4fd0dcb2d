import { randomUUID } from 'node:crypto'
import type { EventPayload } from '../client/client.ts'
import { createDecider, type Decider, type DecisionSource, decideOrBlock } from '../client/decider.ts'
import type { Envelope } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import { errorText, type HookError } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import type { Log } from '../engine/core/records/sink.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { type Catalogue, catalogue } from '../engine/events/catalogue.ts'
import { cloneForHooks } from './clone-for-hooks.ts'

type EventName = keyof Catalogue & string

/** Facts about the agent that every event carries. Without a `session`, a new id is generated. */
export type AgentContext = Pick<
  Envelope,
  | 'tenant'
  | 'agent'
  | 'agentId'
  | 'parentAgent'
  | 'session'
  | 'run'
  | 'turn'
  | 'depth'
  | 'lane'
  | 'cwd'
  | 'traceparent'
>

/** The options of every SDK door: where decisions come from, who the agent is, and a log. */
export type AgentHooksOptions = DecisionSource &
  AgentContext & {
    /** Receives `agent.unasked` if hooks could not be asked, and `agent.undelivered` if a decision cannot be carried out. */
    readonly log?: Log
  }

export interface HookCallOptions {
  readonly envelope?: Envelope
  readonly signal?: AbortSignal | undefined
}

/** Sends the events of one agent to the hooks. Its methods never reject. */
export interface AgentHooks {
  readonly envelope: Envelope
  readonly log: Log
  listens(event: EventName): boolean
  /** If no decision is made, the event's own policy applies. For nearly all gates that is a block. */
  gate<K extends EventName>(event: K, payload: EventPayload<K>, about?: HookCallOptions): Promise<Decision>
  /** If no decision is made, the result is `allow` without changes. */
  transform<K extends EventName>(
    event: K,
    payload: EventPayload<K>,
    about?: HookCallOptions,
  ): Promise<Decision>
  /** Does not wait for the hooks. */
  observe<K extends EventName>(event: K, payload: EventPayload<K>, about?: HookCallOptions): void
  /** The same hooks for a sub-agent or another session. */
  at(context: AgentContext): AgentHooks
  /** Resolves when all observers have finished. */
  drain(): Promise<void>
}

const ALLOW: Decision = Object.freeze({ kind: 'allow' })

export function createAgentHooks(options: AgentHooksOptions, host: string): AgentHooks {
  const { hooks, client, waitMs, log = () => {}, ...envelope } = options
  const decider = createDecider(hooks === undefined ? { client, ...definedFields({ waitMs }) } : { hooks })
  // A gateway on this machine applies the hook files of the folder that an event names.
  const folder = client === undefined ? {} : { cwd: process.cwd() }
  const context = { session: randomUUID(), ...folder, ...envelope, host }
  return hooksAt({ decider, log, observing: new Set() }, context)
}

function hooksAt(
  shared: { readonly decider: Decider; readonly log: Log; readonly observing: Set<Promise<unknown>> },
  envelope: Envelope,
): AgentHooks {
  const { decider, log, observing } = shared
  // Cloning may throw; async turns that into a rejection like any other failure.
  const decide = async (
    event: EventName,
    payload: unknown,
    about: HookCallOptions & { readonly mayWait?: boolean },
  ): Promise<Decision> =>
    decider.decide({
      ...(about.mayWait === true ? { mayWait: true } : {}),
      event,
      payload: cloneForHooks(payload),
      envelope: cloneForHooks({ ...envelope, ...about.envelope }),
      signal: about.signal,
    })
  const unasked = (event: EventName, thrown: unknown): Decision => {
    log('agent.unasked', { event, reason: errorText(thrown) })
    return ALLOW
  }

  const agentHooks: AgentHooks = {
    envelope,
    log,
    listens: (event) => decider.listens(event),
    gate(event, payload, about = {}) {
      if (!decider.listens(event)) return Promise.resolve(ALLOW)
      const answer = decide(event, payload, { ...about, mayWait: true })
      if (catalogue[event].onFailure === 'allow') return answer.catch((thrown) => unasked(event, thrown))
      return decideOrBlock(answer)
    },
    transform(event, payload, about = {}) {
      if (!decider.listens(event)) return Promise.resolve(ALLOW)
      return decide(event, payload, about).catch((thrown) => unasked(event, thrown))
    },
    observe(event, payload, about) {
      const done = agentHooks.transform(event, payload, about).then(({ kind, reason }) => {
        observing.delete(done)
        if (kind !== 'allow') log('agent.undelivered', { event, reason })
      })
      observing.add(done)
    },
    at(other) {
      const { agentId, ...rest } = envelope
      // An agent's id belongs to its name.
      const same = other.agent === undefined && agentId !== undefined ? { agentId } : {}
      return hooksAt(shared, { ...rest, ...same, ...other })
    },
    async drain() {
      while (observing.size > 0) await Promise.all(observing)
      await decider.drain()
    },
  }
  return agentHooks
}

/** The hooks of a sub-agent: the same session, one level deeper. */
export function subagentHooks(agentHooks: AgentHooks, agent: string): AgentHooks {
  const { agent: parentAgent, depth = 0 } = agentHooks.envelope
  return agentHooks.at({
    agent,
    lane: agent,
    depth: depth + 1,
    ...definedFields({ parentAgent }),
  })
}

/** The message of a decision for the model and the user. */
export function messageOf({ message, reason }: Decision): string {
  return message || reason || 'a hook gave no reason'
}

/** Returns why a call is refused, or undefined. `ask` is a refusal here, because no person can be asked. */
export function refusalOf(decision: Decision): string | undefined {
  if (decision.kind === 'block') return messageOf(decision)
  if (decision.kind === 'ask')
    return `this needs a person's approval, which cannot be requested here: ${messageOf(decision)}`
  return undefined
}

export function blocked(message: string): HookError {
  return serverError('agent.blocked', message)
}
