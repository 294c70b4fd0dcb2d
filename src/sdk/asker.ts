import { randomUUID } from 'node:crypto'
import { decideOrBlock } from '../client/decide.ts'
import type { Envelope } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import { errorText } from '../engine/core/error.ts'
import type { Log } from '../engine/core/sink.ts'
import { catalogue } from '../engine/events/catalogue.ts'
import { type Decider, type Deciding, deciderOf, type EventName, type Payload } from './decider.ts'
import { plain } from './plain.ts'

/** Where in an agent's life this is; the session has a name of its own unless one is given. */
export type Moment = Pick<
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

export type HelmOptions = Deciding &
  Moment & {
    /** Told what could not be asked or carried out. */
    readonly log?: Log
  }

export interface About {
  readonly envelope?: Envelope
  readonly signal?: AbortSignal | undefined
}

/** Asks the hooks on behalf of an agent. None of it ever rejects. */
export interface Asker {
  readonly moment: Envelope
  readonly log: Log
  listens(event: EventName): boolean
  /** Without a clear answer the event's own policy decides, which is to block nearly everywhere. */
  gate<K extends EventName>(event: K, payload: Payload<K>, about?: About): Promise<Decision>
  /** Without an answer everything stays as it is. */
  transform<K extends EventName>(event: K, payload: Payload<K>, about?: About): Promise<Decision>
  /** Nobody waits. */
  observe<K extends EventName>(event: K, payload: Payload<K>, about?: About): void
  /** For a sub-agent, or for another session. */
  at(moment: Moment): Asker
  /** Resolves when all observers have been told. */
  drain(): Promise<void>
}

const ALLOW: Decision = Object.freeze({ kind: 'allow' })

export function createAsker(options: HelmOptions, host: string): Asker {
  const { hooks, client, log = () => {}, ...moment } = options
  const decider = deciderOf(hooks === undefined ? { client } : { hooks })
  return askerAt({ decider, log, telling: new Set() }, { session: randomUUID(), ...moment, host })
}

interface Means {
  readonly decider: Decider
  readonly log: Log
  readonly telling: Set<Promise<unknown>>
}

function askerAt(means: Means, moment: Envelope): Asker {
  const { decider, log, telling } = means
  // A payload that cannot be copied was never an event: that is a failure like any other.
  const decide = async (event: EventName, payload: unknown, about: About): Promise<Decision> =>
    decider.decide({
      event,
      payload: plain(payload),
      envelope: plain({ ...moment, ...about.envelope }),
      signal: about.signal,
    })
  const unasked = (event: EventName, thrown: unknown): Decision => {
    log('agent.unasked', { event, reason: errorText(thrown) })
    return ALLOW
  }

  const asker: Asker = {
    moment,
    log,
    listens: (event) => decider.listens(event),
    gate(event, payload, about = {}) {
      if (!decider.listens(event)) return Promise.resolve(ALLOW)
      const answer = decide(event, payload, about)
      if (catalogue[event].onFailure === 'allow') return answer.catch((thrown) => unasked(event, thrown))
      return decideOrBlock(answer.then((decision) => ({ decision })))
    },
    transform(event, payload, about = {}) {
      if (!decider.listens(event)) return Promise.resolve(ALLOW)
      return decide(event, payload, about).catch((thrown) => unasked(event, thrown))
    },
    observe(event, payload, about) {
      const told = asker.transform(event, payload, about).then(({ kind, reason }) => {
        telling.delete(told)
        if (kind !== 'allow') log('agent.undelivered', { event, reason })
      })
      telling.add(told)
    },
    at(other) {
      const { agentId, ...rest } = moment
      // The id is that of the agent it came with.
      const same = other.agent === undefined && agentId !== undefined ? { agentId } : {}
      return askerAt(means, { ...rest, ...same, ...other })
    },
    async drain() {
      while (telling.size > 0) await Promise.all(telling)
      await decider.drain()
    },
  }
  return asker
}

/** The same session one level deeper. */
export function innerOf(asker: Asker, agent: string): Asker {
  const { agent: parentAgent, depth = 0 } = asker.moment
  return asker.at({
    agent,
    lane: agent,
    depth: depth + 1,
    ...(parentAgent === undefined ? {} : { parentAgent }),
  })
}
