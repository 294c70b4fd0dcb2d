/** At most so many at once; the others wait their turn, and no longer than their signal lets them. */
export class Slots {
  readonly #limit: number
  readonly #queue = new Set<() => void>()
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get taken(): number {
    return this.#taken
  }

  /** Settles when there is room; rejects with the reason of the signal when it is aborted first. */
  take(signal: AbortSignal): Promise<void> | undefined {
    if (signal.aborted) return Promise.reject(signal.reason)
    if (this.#taken < this.#limit) {
      this.#taken++
      return undefined
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#queue.delete(enter)
        reject(signal.reason)
      }
      this.#queue.add(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  release(): void {
    const [next] = this.#queue
    if (next === undefined) this.#taken--
    else {
      this.#queue.delete(next)
      next()
    }
  }
}
