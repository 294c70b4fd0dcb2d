import { pause } from '../../engine/core/time/after.ts'
import type { Clock } from '../../engine/core/time/clock.ts'

const FIRST_MS = 100
const LONGEST_MS = 30_000

/** The delay before the next start: none after the first failure, then doubling from 100 ms to 30 s. */
export class Backoff {
  readonly #clock: Clock
  #failures = 0
  #notBefore = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  failed(): void {
    this.#failures++
    if (this.#failures < 2) return
    const delay = Math.min(LONGEST_MS, FIRST_MS * 2 ** (this.#failures - 2))
    this.#notBefore = this.#clock.elapsed() + delay
  }

  succeeded(): void {
    this.#failures = 0
  }

  /** Resolves after the delay; rejects with the reason of the signal. */
  wait(signal: AbortSignal): Promise<void> | undefined {
    if (signal.aborted) return Promise.reject(signal.reason)
    const delay = this.#notBefore - this.#clock.elapsed()
    return delay <= 0 ? undefined : pause(this.#clock, Math.ceil(delay), signal)
  }
}
