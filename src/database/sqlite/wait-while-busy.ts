import { after } from '../../engine/core/time/after.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import { isBusy } from './sqlite-error.ts'

const BUSY_MS = 5_000
const RETRY_MS = 10

/**
 * Repeats an attempt while another process has the write lock, for five seconds at most. The thread is free in between, so that
 * reads, which need no lock, are answered meanwhile. The attempt must not have changed anything when it fails this way.
 */
export async function waitWhileBusy<T>(attempt: () => T | Promise<T>): Promise<T> {
  const until = systemClock.elapsed() + BUSY_MS
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isBusy(error) || systemClock.elapsed() > until) throw error
      await new Promise<void>((resolve) => void after(systemClock, RETRY_MS, resolve))
    }
  }
}
