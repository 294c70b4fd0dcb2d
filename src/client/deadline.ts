import { after } from '../engine/core/after.ts'
import type { Clock } from '../engine/core/clock.ts'
import { HookError } from '../engine/core/error.ts'
import { serverError } from '../engine/core/server-errors.ts'

export interface CallDeadline {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** The time limit of one call. */
export interface RunningDeadline {
  /** Aborted when the time is up or the caller aborts. Its reason is the error to reject with. */
  readonly signal: AbortSignal
  /** Moves the end to this time. */
  extend(untilMs: number): void
  /** Stops the timer. */
  clear(): void
}

export function startDeadline({ clock, timeoutMs, signal }: CallDeadline): RunningDeadline {
  const controller = new AbortController()
  const late = () =>
    controller.abort(serverError('gateway.unreachable', 'the gateway did not answer before the deadline'))
  const leave = () => controller.abort(new HookError('engine.aborted', 'the caller aborted the call'))
  let cancelTimeout = after(clock, timeoutMs, late)
  if (signal?.aborted) leave()
  signal?.addEventListener('abort', leave, { once: true })
  return {
    signal: controller.signal,
    extend(untilMs) {
      cancelTimeout()
      cancelTimeout = after(clock, Math.max(1, untilMs - clock.now()), late)
    },
    clear() {
      cancelTimeout()
      signal?.removeEventListener('abort', leave)
    },
  }
}
