import type { HookId } from './decision.ts'
import type { Policy } from './event.ts'

export type Outcome = 'success' | 'failed' | 'timeout' | 'unknown'
export type Scope = 'global' | 'tenant' | 'agent'

/** Further ways to say which events a hook is for; all that are given must hold. */
export interface Match {
  /** A shell-style pattern on the whole name: `mcp__*`. */
  readonly glob?: string
  /** Exact names. */
  readonly names?: readonly string[]
  /** Dot path into the payload → the value that must stand there. */
  readonly fields?: Readonly<Record<string, string | number | boolean | null>>
  readonly outcome?: Outcome | readonly Outcome[]
}

/**
 * Everything about a hook but its event and handler. The same fields, spelled the same way, stand in a hook file,
 * in the database, on the wire and in the form of the web app.
 */
export interface HookOptions {
  readonly id?: HookId
  readonly name?: string
  readonly description?: string
  readonly scope?: Scope
  readonly agent_ids?: readonly string[]
  /** An RE2 search on the tool name, or `Tool(pattern)` such as `Bash(git push*)`. */
  readonly matcher?: string
  /** A CEL condition. */
  readonly if_expr?: string
  readonly match?: Match
  readonly timeout_ms?: number
  readonly on_error?: Policy
  readonly on_timeout?: Policy
  readonly on_invalid?: Policy
  /** Higher runs first. */
  readonly priority?: number
  readonly enabled?: boolean
  readonly disabled_reason?: string
  /** Managed by an administrator: runs before all others, and no rewrite can pass it by. */
  readonly locked?: boolean
  /** Runs again when a later hook changed the input it had passed. */
  readonly recheck?: boolean
  /** Runs and is recorded, but changes nothing. */
  readonly shadow?: boolean
  /** On an event that awaits only transformers: this hook is one. */
  readonly transform?: boolean
  readonly cooldown_ms?: number
  readonly dedup_window_ms?: number
  readonly max_invocations_per_turn?: number
  /** Raised by the store with every change. */
  readonly version?: number
  readonly budget?: { readonly name: string; readonly cost?: number; readonly limit: number }
}

/** A hook as data. */
export interface HookDefinition extends HookOptions {
  readonly event: string
  readonly handler_type: string
  readonly config?: unknown
}
