/**
 * One transaction at a time: a worker has one connection, and a statement that came in between would join the transaction of
 * somebody else. What needs no waiting runs at once.
 */
export interface Serial {
  run<T>(work: () => Promise<T>): Promise<T>
  /** For work that does not yield. */
  runNow<T>(work: () => T): T | Promise<T>
}

export function createSerial(): Serial {
  const waiting: (() => void)[] = []
  let busy = false
  const leave = () => {
    const next = waiting.shift()
    if (next === undefined) busy = false
    else next()
  }
  const enter = (): Promise<void> | undefined => {
    if (!busy) {
      busy = true
      return undefined
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push(resolve)
    return promise
  }
  const now = <T>(work: () => T): T => {
    try {
      return work()
    } finally {
      leave()
    }
  }
  return {
    async run(work) {
      await enter()
      try {
        return await work()
      } finally {
        leave()
      }
    },
    runNow(work) {
      const turn = enter()
      return turn === undefined ? now(work) : turn.then(() => now(work))
    },
  }
}
