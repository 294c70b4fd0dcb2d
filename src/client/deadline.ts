import { after } from '../engine/core/after.ts'
import type { Clock } from '../engine/core/clock.ts'
import { HookError } from '../engine/core/error.ts'
import { serverError } from '../engine/core/server-errors.ts'

export interface Patience {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** One piece of work that somebody waits for. */
export interface Deadline {
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal
  /** From now on until this time, rather than until the one before. */
  extend(untilMs: number): void
  /** The work is done. */
  clear(): void
}

/** The reason of the abort is the error to fail with. */
export function startDeadline({ clock, timeoutMs, signal }: Patience): Deadline {
  const controller = new AbortController()
  const late = () =>
    controller.abort(serverError('gateway.unreachable', 'the gateway did not answer before the deadline'))
  const leave = () => controller.abort(new HookError('engine.aborted', 'the caller no longer waits'))
  let callOff = after(clock, timeoutMs, late)
  if (signal?.aborted) leave()
  signal?.addEventListener('abort', leave, { once: true })
  return {
    signal: controller.signal,
    extend(untilMs) {
      callOff()
      callOff = after(clock, Math.max(1, untilMs - clock.now()), late)
    },
    clear() {
      callOff()
      signal?.removeEventListener('abort', leave)
    },
  }
}
