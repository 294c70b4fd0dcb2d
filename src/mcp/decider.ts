import type { Client } from '../client/client.ts'
import type { Envelope } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import type { Hooks } from '../engine/dispatch/hooks.ts'
import type { JsonLimits } from '../safe/json-scan.ts'

type ToolCallPayload = {
  readonly tool_name: string
  readonly tool_input: Readonly<Record<string, unknown>>
  readonly tool_use_id: string
}

/** The moments of an MCP connection that hooks may listen to. */
export type McpEvent =
  | { readonly event: 'session_start'; readonly payload: { readonly source: string; readonly cwd?: string } }
  | { readonly event: 'session_end'; readonly payload: { readonly reason: string } }
  | { readonly event: 'pre_tool_use'; readonly payload: ToolCallPayload }
  | {
      readonly event: 'post_tool_use'
      readonly payload: ToolCallPayload & { readonly tool_response: unknown; readonly duration_ms: number }
    }
  | {
      readonly event: 'post_tool_use_failure'
      readonly payload: ToolCallPayload & { readonly error: unknown }
    }

export interface Limits extends JsonLimits {
  readonly maxBytes: number
}

/** Who decides: a gateway, or the hook files of a directory. */
export interface Decider {
  /** Rejects with a coded error when nobody could decide. */
  decide(event: McpEvent, envelope: Envelope, signal: AbortSignal): Promise<Decision>
  /** How large an event may be, where that is limited. */
  readonly limits?: Limits
}

/** What one line or one body to a gateway may be. */
const GATEWAY_LIMITS: Limits = { maxBytes: 1_048_576, maxDepth: 64, maxKeys: 10_000 }

/** `check` throws where the gateway may not be asked: at a socket that others could have put there. */
export function gatewayDecider(client: Pick<Client, 'dispatch'>, check: () => void = () => {}): Decider {
  return {
    limits: GATEWAY_LIMITS,
    async decide({ event, payload }, envelope, signal) {
      check()
      return (await client.dispatch({ event, payload, envelope }, { signal })).decision
    },
  }
}

export function localDecider(hooks: Pick<Hooks, 'dispatch'>): Decider {
  return {
    // Each event has a payload of its own, which the compiler cannot follow through a union.
    decide: ({ event, payload }, envelope, signal) =>
      hooks.dispatch(event, payload as never, envelope, { signal }) as Promise<Decision>,
  }
}
