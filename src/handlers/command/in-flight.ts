import type { HookError } from '../../engine/core/error.ts'
import type { Reply } from '../answer-dialects.ts'

interface Asked {
  answer(reply: Reply): void
  fail(error: HookError): void
}

interface Entry {
  /** Nothing once nobody waits; the place is kept for the late answer. */
  asked: Asked | undefined
  readonly linesBefore: number
}

/** So many events that a worker never answered, and it is taken for stuck. */
const MAX_ABANDONED = 64

/** The events a worker has been given and has not answered, oldest first. */
export class InFlight {
  readonly #entries = new Map<string, Entry>()
  #last = 0
  #lines = 0
  #namesEvents = false
  #abandoned = 0

  get size(): number {
    return this.#entries.size
  }

  add(asked: Asked): string {
    const id = String(++this.#last)
    this.#entries.set(id, { asked, linesBefore: this.#lines })
    return id
  }

  /** Gives a reply to whom it belongs: by its id, else to the oldest. Answers whether it can be an answer at all. */
  settle({ id, ...reply }: Reply): boolean {
    const named = typeof id === 'string' || typeof id === 'number'
    if (named) this.#namesEvents = true
    // Who names events once must go on: a line without a name may be anything.
    else if (this.#namesEvents) return false
    const [oldest = ''] = this.#entries.keys()
    const key = named ? String(id) : oldest
    const entry = this.#entries.get(key)
    // A name that nobody waits for can do no harm; a line without one belongs to the next event, and would answer it.
    if (entry === undefined) return named
    this.#lines++
    this.#entries.delete(key)
    if (entry.asked === undefined) this.#abandoned--
    entry.asked?.answer(reply)
    return true
  }

  /** Nobody waits for this one any more. Answers whether the worker hangs: silent since then, or silent too often. */
  abandon(id: string): boolean {
    const entry = this.#entries.get(id)
    if (entry === undefined) return false
    entry.asked = undefined
    this.#abandoned++
    return entry.linesBefore === this.#lines || this.#abandoned > MAX_ABANDONED
  }

  failAll(error: HookError): void {
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    this.#namesEvents = false
    this.#abandoned = 0
    for (const { asked } of entries) asked?.fail(error)
  }
}
