import type { Clock } from '../core/clock.ts'
import type { Kind } from '../core/decision.ts'
import type { ErrorCode } from '../core/error-table.ts'
import type { GuardState } from '../core/guard-state.ts'
import type { Log, Sink } from '../core/sink.ts'
import type { Counted } from '../guard/breaker.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { Wheel } from './wheel.ts'

/** What all dispatches of one set of hooks share. */
export interface Engine {
  readonly clock: Clock
  readonly wheel: Wheel
  readonly sink: Sink | undefined
  readonly log: Log
  readonly guards: GuardState
  readonly maxDepth: number
  /** How long all hooks of one dispatch may take together. */
  readonly budgetMs: number
  /** Told of an answer that may change what the breaker remembers. */
  answered(hook: CompiledHook, kind: Kind): void
  /** Told after the answer; may switch the hook off in the next snapshot. */
  failed(hook: CompiledHook, how: Counted, code: ErrorCode): void
  /** Work that goes on after the answer. */
  readonly detached: Set<Promise<unknown>>
  newId(): string
}
