import type { HookId, Kind } from '../decision.ts'
import type { Execution } from './sink.ts'

/** What happened to one hook of the event. */
export interface TraceHook {
  readonly hook: HookId
  readonly name?: string
  /** Whether its conditions hold; `failed` if one could not be evaluated. */
  readonly matched: boolean | 'failed'
  /** Which condition does not hold, and why. */
  readonly because?: string
  /** Empty if the hook did not run: it does not match, is disabled, or comes after a block. */
  readonly executions: readonly Execution[]
}

/** A hook that changed the kind of the decision. */
export interface KindChange {
  readonly hook: HookId
  readonly from: Kind
  readonly to: Kind
}

/** How a decision came about. */
export interface Trace {
  readonly event: string
  readonly id: string
  readonly time: number
  /** The name that matchers looked at. */
  readonly subject: string
  readonly hooks: readonly TraceHook[]
  /** How many further hooks do not apply to the name or are switched off, if the trace does not list them. */
  readonly misses?: number
  /** Each change of the decision, in order. */
  readonly merges: readonly KindChange[]
  readonly durationMs: number
  /** Hook files that are not in use as they are written, each with the reason. Set by a gateway. */
  readonly files?: readonly string[]
}
