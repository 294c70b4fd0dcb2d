import type { HookId, Kind } from './decision.ts'
import type { Execution } from './sink.ts'

/** What became of one hook of the event. */
export interface TraceHook {
  readonly hook: HookId
  readonly name?: string
  /** False with the part that failed; `failed` when a part could not be evaluated. */
  readonly matched: boolean | 'failed'
  readonly because?: string
  /** Empty when it did not run: not matched, switched off, or behind a block. */
  readonly executions: readonly Execution[]
}

/** One change of the answer, and who caused it. */
export interface Merge {
  readonly hook: HookId
  readonly from: Kind
  readonly to: Kind
}

/** Why a dispatch answered as it did. */
export interface Trace {
  readonly event: string
  readonly id: string
  readonly time: number
  /** What name matchers looked at. */
  readonly subject: string
  readonly hooks: readonly TraceHook[]
  /** How many further hooks do not apply to the name or are switched off, if the trace does not list them. */
  readonly misses?: number
  readonly merges: readonly Merge[]
  readonly durationMs: number
}
