import type { Clock, Ticker } from './clock.ts'

/** Calls once after `ms` milliseconds. Returns a function that cancels the call. */
export function after(clock: Clock, ms: number, call: () => void): () => void {
  const ticker = clock.every(ms, () => {
    ticker.stop()
    call()
  })
  return () => ticker.stop()
}

/** Resolves after `ms` milliseconds; rejects with the reason of the signal if it aborts before. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = after(clock, ms, () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    })
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** Resolves when the work has ended, or after `ms` milliseconds. */
export function endedWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = after(clock, ms, resolve)
    const done = () => {
      cancel()
      resolve()
    }
    work.then(done, done)
  })
}

/** Works every `ms` milliseconds, but not while the work before lasts. Does not keep the process alive. */
export function repeat(
  clock: Clock,
  ms: number,
  work: () => Promise<void>,
  onError: (thrown: unknown) => void,
): Ticker {
  let isBusy = false
  const ticker = clock.every(ms, () => {
    if (isBusy) return
    isBusy = true
    work()
      .catch(onError)
      .finally(() => {
        isBusy = false
      })
  })
  ticker.hold(false)
  return ticker
}
