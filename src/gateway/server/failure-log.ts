import type { Clock } from '../../engine/core/clock.ts'
import type { Log } from '../../engine/core/sink.ts'

const A_SECOND = 5

/** Whoever finds a request that we fail at could fill the disk with it: a few lines a second say as much as all of them. */
export function fewFailures(log: Log, clock: Clock): Log {
  let since = Number.NEGATIVE_INFINITY
  let told = 0
  let untold = 0
  return (name, fields) => {
    if (name !== 'gateway.failed') return log(name, fields)
    const now = clock.elapsed()
    if (now - since >= 1_000) {
      since = now
      told = 0
    }
    if (told >= A_SECOND) {
      untold += 1
      return
    }
    told += 1
    log(name, untold === 0 ? fields : { ...fields, untold })
    untold = 0
  }
}
