import { randomUUID } from 'node:crypto'
import { isRecord } from '../../engine/core/check.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Caller } from '../auth/caller.ts'
import { checkRole, findMethod, readParams } from '../call-method.ts'
import type { Door } from '../door.ts'
import { eventFrame } from './frames.ts'
import { startTail, type Tail } from './tail.ts'

const TAIL = 'executions.tail'
const UNTAIL = 'executions.untail'
const MAX_TAILS = 8

/** What one connection listens to. Over REST `executions.tail` gives a page; here it goes on. */
export class Subscriptions {
  readonly #door: Door
  readonly #caller: Caller
  readonly #send: (frame: string) => void
  readonly #tails = new Map<string, Tail>()
  readonly #starts: (() => void)[] = []
  #closed = false

  constructor(door: Door, caller: Caller, send: (frame: string) => void) {
    this.#door = door
    this.#caller = caller
    this.#send = send
  }

  serves(method: string): boolean {
    return method === TAIL || method === UNTAIL
  }

  run(method: string, params: unknown): Promise<unknown> | unknown {
    return method === TAIL ? this.#tail(params) : this.#untail(params)
  }

  /** Begins what was asked for: after the answer has left, so that nobody hears from a subscription they do not know yet. */
  begin(): void {
    for (const start of this.#starts.splice(0)) if (!this.#closed) start()
  }

  close(): void {
    this.#closed = true
    for (const tail of this.#tails.values()) tail.stop()
    this.#tails.clear()
  }

  async #tail(given: unknown): Promise<unknown> {
    const { parts, methods } = this.#door
    const row = findMethod(methods, TAIL)
    checkRole(row, this.#caller)
    const params = readParams(row, given)
    if (this.#tails.size + this.#starts.length >= MAX_TAILS)
      throw serverError('gateway.request', `a connection has at most ${MAX_TAILS} subscriptions`)
    const subscription = randomUUID()
    const { tenant } = this.#caller
    const from = textAt(params, 'cursor')
    // Also looks whether a given one is any: later nobody would be there to be told.
    const { nextCursor } = await parts.store.tail(tenant, from, 1)
    const cursor = from ?? nextCursor
    const send = (payload: unknown, at: string) =>
      this.#send(eventFrame('execution', payload, { subscription, cursor: at }))
    this.#starts.push(() => {
      this.#tails.set(subscription, startTail({ tenant, cursor, parts, send }))
    })
    return { subscription, cursor }
  }

  #untail(params: unknown): unknown {
    const subscription = textAt(params, 'subscription')
    const tail = subscription === undefined ? undefined : this.#tails.get(subscription)
    if (subscription === undefined || tail === undefined)
      throw serverError('gateway.not_found', 'there is no such subscription', { at: 'subscription' })
    tail.stop()
    this.#tails.delete(subscription)
    return { subscription }
  }
}

function textAt(params: unknown, name: string): string | undefined {
  const value = isRecord(params) ? params[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}
