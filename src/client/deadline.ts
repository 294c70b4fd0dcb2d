import { HookError } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { after } from '../engine/core/time/after.ts'
import type { Clock } from '../engine/core/time/clock.ts'

export interface CallDeadline {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** The time limit of one call. */
export interface RunningDeadline {
  /** Aborted when the time is up or the caller aborts. Its reason is the error to reject with. */
  readonly signal: AbortSignal
  /** Moves the end to this time, but never closer. */
  extend(untilMs: number): void
  /** Milliseconds until the end. */
  readonly leftMs: number
  /** Stops the timer. */
  clear(): void
}

export function startDeadline({ clock, timeoutMs, signal }: CallDeadline): RunningDeadline {
  const controller = new AbortController()
  const late = () =>
    controller.abort(serverError('gateway.unreachable', 'the gateway did not answer before the deadline'))
  const leave = () => controller.abort(new HookError('engine.aborted', 'the caller aborted the call'))
  let end = clock.elapsed() + timeoutMs
  let cancelTimeout = after(clock, timeoutMs, late)
  if (signal?.aborted) leave()
  signal?.addEventListener('abort', leave, { once: true })
  return {
    signal: controller.signal,
    extend(untilMs) {
      const leftMs = untilMs - clock.now()
      if (!(clock.elapsed() + leftMs > end)) return
      end = clock.elapsed() + leftMs
      cancelTimeout()
      cancelTimeout = after(clock, leftMs, late)
    },
    get leftMs() {
      return end - clock.elapsed()
    },
    clear() {
      cancelTimeout()
      signal?.removeEventListener('abort', leave)
    },
  }
}
