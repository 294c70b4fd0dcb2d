import type { HookError } from '../../engine/core/errors/error.ts'
import type { HookAnswer } from '../answer-dialects.ts'

interface Waiter {
  answer(answer: HookAnswer): void
  fail(error: HookError): void
}

interface Entry {
  /** Undefined after the deadline; the entry stays to receive the late answer. */
  waiter: Waiter | undefined
  readonly linesBefore: number
}

/** A worker that leaves more events than this unanswered counts as stuck. */
const MAX_ABANDONED = 64

/** The events that a worker has received and not answered, oldest first. */
export class InFlight {
  readonly #entries = new Map<string, Entry>()
  #lastId = 0
  #lines = 0
  #usesIds = false
  #abandoned = 0

  get size(): number {
    return this.#entries.size
  }

  add(waiter: Waiter): string {
    const id = String(++this.#lastId)
    this.#entries.set(id, { waiter, linesBefore: this.#lines })
    return id
  }

  /** Gives an answer to its event: the one with its id, else the oldest. Returns false if it cannot be an answer. */
  settle({ id, ...answer }: HookAnswer): boolean {
    const hasId = typeof id === 'string' || typeof id === 'number'
    if (hasId) this.#usesIds = true
    // A worker that has used ids must keep using them: a line without one could belong to any event.
    else if (this.#usesIds) return false
    const [oldest = ''] = this.#entries.keys()
    const key = hasId ? String(id) : oldest
    const entry = this.#entries.get(key)
    // An unknown id is harmless. A line without an id and without an event would answer the next event.
    if (entry === undefined) return hasId
    this.#lines++
    this.#entries.delete(key)
    if (entry.waiter === undefined) this.#abandoned--
    entry.waiter?.answer(answer)
    return true
  }

  /** The deadline of this event passed. Returns whether the worker hangs: silent since then, or silent too often. */
  abandon(id: string): boolean {
    const entry = this.#entries.get(id)
    if (entry === undefined) return false
    entry.waiter = undefined
    this.#abandoned++
    return entry.linesBefore === this.#lines || this.#abandoned > MAX_ABANDONED
  }

  failAll(error: HookError): void {
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    this.#usesIds = false
    this.#abandoned = 0
    for (const { waiter } of entries) waiter?.fail(error)
  }
}
