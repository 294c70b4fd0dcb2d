/**
 * Runs one transaction at a time: the worker has one connection, and another statement would join the open transaction.
 * If the mutex is free, `runSync` runs at once.
 */
export interface Mutex {
  run<T>(work: () => Promise<T>): Promise<T>
  /** For synchronous work. */
  runSync<T>(work: () => T): T | Promise<T>
}

export function createMutex(): Mutex {
  const waiting: (() => void)[] = []
  let isLocked = false
  const unlock = () => {
    const next = waiting.shift()
    if (next === undefined) isLocked = false
    else next()
  }
  const lock = (): Promise<void> | undefined => {
    if (!isLocked) {
      isLocked = true
      return undefined
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push(resolve)
    return promise
  }
  const runLocked = <T>(work: () => T): T => {
    try {
      return work()
    } finally {
      unlock()
    }
  }
  return {
    async run(work) {
      await lock()
      try {
        return await work()
      } finally {
        unlock()
      }
    },
    runSync(work) {
      const turn = lock()
      return turn === undefined ? runLocked(work) : turn.then(() => runLocked(work))
    },
  }
}
