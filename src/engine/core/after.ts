import type { Clock } from './clock.ts'

/** Calls once when the time has passed; the answer calls it off. */
export function after(clock: Clock, ms: number, call: () => void): () => void {
  const ticker = clock.every(ms, () => {
    ticker.stop()
    call()
  })
  return () => ticker.stop()
}
