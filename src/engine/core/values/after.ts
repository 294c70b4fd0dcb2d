import type { Clock } from './clock.ts'

/** Calls once after `ms` milliseconds. Returns a function that cancels the call. */
export function after(clock: Clock, ms: number, call: () => void): () => void {
  const ticker = clock.every(ms, () => {
    ticker.stop()
    call()
  })
  return () => ticker.stop()
}
