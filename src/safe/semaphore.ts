/** Limits concurrency. Waiters are served in order, or leave when their signal aborts. */
export class Semaphore {
  readonly #limit: number
  readonly #queue = new Set<() => void>()
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get taken(): number {
    return this.#taken
  }

  /** Takes a slot: undefined if one is free, else a promise. Rejects with the signal's reason if it aborts first. */
  take(signal?: AbortSignal): Promise<void> | undefined {
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.#taken < this.#limit) {
      this.#taken++
      return undefined
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#queue.delete(enter)
        reject(signal?.reason)
      }
      this.#queue.add(enter)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  /** Gives the slot to the next waiter, or frees it. */
  release(): void {
    const [next] = this.#queue
    if (next === undefined) this.#taken--
    else {
      this.#queue.delete(next)
      next()
    }
  }
}
