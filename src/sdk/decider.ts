import type { Client } from '../client/client.ts'
import type { Envelope } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import type { PayloadOf } from '../engine/core/event.ts'
import type { Catalogue } from '../engine/events/catalogue.ts'

export type EventName = keyof Catalogue & string
export type Payload<K extends EventName> = PayloadOf<Catalogue[K]>

/** Hooks of the library, whatever events of their own they have. */
interface AnyHooks {
  dispatch(
    event: never,
    payload: never,
    envelope?: Envelope,
    options?: { readonly signal?: AbortSignal },
  ): Promise<unknown>
  has(event: never): boolean
  drain(): Promise<void>
}

/** Who decides: hooks in this process, or a gateway. */
export type Deciding =
  | { readonly hooks: AnyHooks; readonly client?: never }
  | { readonly client: Pick<Client, 'dispatch'>; readonly hooks?: never }

export interface Question {
  readonly event: EventName
  readonly payload: unknown
  readonly envelope: Envelope
  readonly signal?: AbortSignal | undefined
}

/** One source of decisions, whichever it is. */
export interface Decider {
  /** False only where it is certain that nobody has anything to say. */
  listens(event: EventName): boolean
  /** Rejects when nobody could decide; what that means is up to the caller. */
  decide(question: Question): Promise<Decision>
  drain(): Promise<void>
}

export function deciderOf({ hooks, client }: Deciding): Decider {
  if (client !== undefined) {
    return {
      // Only the gateway knows its hooks.
      listens: () => true,
      async decide({ event, payload, envelope, signal }) {
        const call = signal === undefined ? {} : { signal }
        return (await client.dispatch({ event, payload, envelope }, call)).decision
      },
      drain: async () => {},
    }
  }
  return {
    listens: (event) => hooks.has(event as never),
    decide: ({ event, payload, envelope, signal }) =>
      hooks.dispatch(
        event as never,
        payload as never,
        envelope,
        signal === undefined ? undefined : { signal },
      ) as Promise<Decision>,
    drain: () => hooks.drain(),
  }
}
