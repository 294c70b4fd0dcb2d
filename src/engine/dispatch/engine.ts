import { randomUUID } from 'node:crypto'
import type { Kind } from '../core/decision.ts'
import { HookError } from '../core/errors/error.ts'
import type { ErrorCode } from '../core/errors/error-table.ts'
import type { EventRows } from '../core/event.ts'
import type { GuardRequest, GuardState } from '../core/guard-state.ts'
import type { Log, Sink } from '../core/records/sink.ts'
import type { AnalyzeShell } from '../core/shell-effects.ts'
import { type Clock, steadyTime, systemClock } from '../core/time/clock.ts'
import { type BreakerSettings, type CountedOutcome, countFailure, defaultBreaker } from '../guard/breaker.ts'
import { memoryGuardState } from '../guard/memory-state.ts'
import type { CompiledHook } from './compiled-hook.ts'
import { DeadlineTimer } from './deadline-timer.ts'
import type { HooksOptions } from './hooks.ts'

/** What all dispatches of one set of hooks share. */
export interface Engine {
  readonly clock: Clock
  readonly timer: DeadlineTimer
  readonly sink: Sink | undefined
  readonly log: Log
  /** The guard state, with the time of this process. */
  readonly guards: { take(requests: readonly GuardRequest[]): ReturnType<GuardState['take']> }
  /** Returns what a shell line does. Registration requires it for hooks that look at effects. */
  readonly shell: AnalyzeShell | undefined
  readonly maxDepth: number
  /** How long all hooks of one dispatch may take together. */
  readonly budgetMs: number
  /** Called for an answer that may change what the breaker remembers. */
  onAnswer(hook: CompiledHook, kind: Kind): void
  /** Called after a failure; may switch the hook off for the next dispatch. */
  onFailure(hook: CompiledHook, because: CountedOutcome, code: ErrorCode): void
  /** Work that continues after the answer. */
  readonly detached: Set<Promise<unknown>>
  newId(): string
}

type EngineOptions = Pick<
  HooksOptions<EventRows>,
  'sink' | 'log' | 'guards' | 'shell' | 'clock' | 'breaker' | 'maxDepth' | 'budgetMs'
>

// All sets of hooks on the system clock share one timer.
const systemTimer = new DeadlineTimer(systemClock)

/** Creates the engine. `trip` switches a hook off and returns false if it was off already. */
export function createEngine(options: EngineOptions, trip: (hook: CompiledHook) => boolean): Engine {
  const clock = options.clock ?? systemClock
  const log = neverThrows(options.log)
  const { guards = memoryGuardState() } = options
  const now = steadyTime(clock)
  return {
    clock,
    timer: clock === systemClock ? systemTimer : new DeadlineTimer(clock),
    sink: options.sink,
    log,
    guards: { take: (requests) => guards.take(requests, now()) },
    shell: options.shell,
    maxDepth: checkRange('maxDepth', options.maxDepth ?? 3, 0, 1_000),
    budgetMs: checkRange('budgetMs', options.budgetMs ?? 10_000, 1, 600_000),
    ...createBreaker(options.breaker ?? {}, { clock, log, trip }),
    detached: new Set(),
    newId: randomUUID,
  }
}

/** Counts failures in a row; too many switch the hook off. */
function createBreaker(
  given: Partial<BreakerSettings> | false,
  { clock, log, trip }: { readonly clock: Clock; readonly log: Log; trip(hook: CompiledHook): boolean },
): Pick<Engine, 'onFailure' | 'onAnswer'> {
  if (given === false) return { onFailure() {}, onAnswer() {} }
  const settings = { ...defaultBreaker, ...given }
  const { counts } = settings
  const threshold = checkRange('breaker.threshold', settings.threshold, 1, 1_000_000)
  const windowMs = checkRange('breaker.windowMs', settings.windowMs, 1, 86_400_000)
  const onFailure: Engine['onFailure'] = (hook, because, code) => {
    if (!counts.includes(because)) return
    const { health, policies } = hook
    // Of several kinds in a row, one that blocks counts: a gate that blocked must not open because it trips.
    if (health.failures === 0 || policies[health.because] === 'allow')
      health.because = because === 'block' ? 'error' : because
    if (!countFailure(health, clock.elapsed(), settings)) return
    if (!trip(hook)) return
    const { id: hook_id, event } = hook
    log('security.hook.circuit_breaker', { hook_id, event, threshold, window_ms: windowMs, code })
  }
  const onAnswer: Engine['onAnswer'] = (hook, kind) => {
    if (kind === 'block' && counts.includes('block')) onFailure(hook, 'block', 'guard.breaker')
    else hook.health.failures = 0
  }
  return { onFailure, onAnswer }
}

/** A log that throws must not change a decision. */
function neverThrows(log: Log | undefined): Log {
  if (log === undefined) return () => {}
  return (name, fields) => {
    try {
      log(name, fields)
    } catch {
      // The log itself is broken, so there is nowhere to report it.
    }
  }
}

function checkRange(option: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  const message = `${option} must be a whole number from ${min} to ${max}`
  throw new HookError('config.range', message, { at: option })
}
