import type { Envelope } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import { errorText, isHookError } from '../engine/core/errors/error.ts'
import type { JsonLimits } from '../safe/json-scan.ts'
import type { Client } from './client.ts'

/** Hooks of the library, whatever events of their own they define. */
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

/** Where decisions come from: hooks in this process, or a gateway. */
export type DecisionSource =
  | {
      /** Hooks in this process: `createHooks()`, or `(await openLocal()).hooks`. */
      readonly hooks: AnyHooks
      readonly client?: never
      readonly waitMs?: never
    }
  | {
      /** A client of a gateway: `createClient(…)`. */
      readonly client: Pick<Client, 'dispatch'>
      /**
       * How long a call waits for a person if a hook asks for approval, in milliseconds: people answer at the gateway, and the
       * decision is theirs. Without it, the program asks by itself.
       */
      readonly waitMs?: number
      readonly hooks?: never
    }

export interface DecisionRequest {
  readonly event: string
  readonly payload: unknown
  readonly envelope: Envelope
  readonly signal?: AbortSignal | undefined
  /** The call can wait for a person. */
  readonly mayWait?: boolean
}

export interface DecisionLimits extends JsonLimits {
  readonly maxBytes: number
}

/** Decides about events. The SDK doors and the MCP proxy use it for local hooks and for gateways alike. */
export interface Decider {
  /** Returns false only if no hook listens to the event. */
  listens(event: string): boolean
  /** Rejects if no decision was made. The caller chooses what that means. */
  decide(request: DecisionRequest): Promise<Decision>
  /** Resolves when all observers have finished. */
  drain(): Promise<void>
  /** The largest event that the source accepts. */
  readonly limits?: DecisionLimits
}

/** The limits of one line or one request body to a gateway. */
const GATEWAY_LIMITS: DecisionLimits = { maxBytes: 1_048_576, maxDepth: 64, maxKeys: 10_000 }

export function createDecider({ hooks, client, waitMs }: DecisionSource): Decider {
  if (client !== undefined) {
    return {
      limits: GATEWAY_LIMITS,
      // Only the gateway knows its hooks.
      listens: () => true,
      async decide({ event, payload, envelope, signal, mayWait = false }) {
        const options = {
          ...(signal === undefined ? {} : { signal }),
          ...(mayWait && waitMs !== undefined ? { waitMs } : {}),
        }
        return (await client.dispatch({ event, payload, envelope }, options)).decision
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

/** Turns a failure into a block, so that stopping or overloading the gateway does not open a gate. */
export async function decideOrBlock(decision: Promise<Decision>): Promise<Decision> {
  try {
    return await decision
  } catch (thrown) {
    const reason = `no decision: ${errorText(thrown)}`
    return { kind: 'block', reason, code: isHookError(thrown) ? thrown.code : 'gateway.unreachable' }
  }
}
