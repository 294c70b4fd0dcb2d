import { randomUUID } from 'node:crypto'
import type { Caller } from '../../../access/caller.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import { isRecord } from '../../../engine/core/schema/check.ts'
import type { SubscriptionMethod } from '../../../methods/method.ts'
import type { Door } from '../door.ts'
import { prepareSubscription } from '../subscription.ts'
import { eventFrame } from './ws-frames.ts'

const MAX_SUBSCRIPTIONS = 8

/** The subscriptions of one WebSocket. */
export class WsSubscriptions {
  readonly #door: Door
  readonly #caller: Caller
  readonly #send: (frame: string) => void
  readonly #running = new Map<string, { readonly row: SubscriptionMethod; stop(): void }>()
  readonly #starts: (() => void)[] = []
  #closed = false

  constructor(door: Door, caller: Caller, send: (frame: string) => void) {
    this.#door = door
    this.#caller = caller
    this.#send = send
  }

  /** Replies with the id of the subscription and its first cursor. Items follow after `startPrepared`. */
  async open(row: SubscriptionMethod, params: unknown): Promise<unknown> {
    const { parts, clock, log } = this.#door
    const context = { caller: this.#caller, parts, clock, log }
    const { cursor, start } = await prepareSubscription(row, params, context)
    if (this.#running.size + this.#starts.length >= MAX_SUBSCRIPTIONS)
      throw serverError('gateway.request', `a connection has at most ${MAX_SUBSCRIPTIONS} subscriptions`)
    const subscription = randomUUID()
    this.#starts.push(() => {
      const stop = start((item, at) => this.#send(eventFrame(row.event, item, { subscription, cursor: at })))
      this.#running.set(subscription, { row, stop })
    })
    return { subscription, cursor }
  }

  /** Starts subscriptions whose reply has been sent, so that a client knows the id before the first item. */
  startPrepared(): void {
    for (const start of this.#starts.splice(0)) if (!this.#closed) start()
  }

  end(row: SubscriptionMethod, params: unknown): unknown {
    const id = isRecord(params) && typeof params.subscription === 'string' ? params.subscription : ''
    const running = this.#running.get(id)
    if (running?.row !== row)
      throw serverError('gateway.not_found', 'there is no such subscription', { at: 'subscription' })
    running.stop()
    this.#running.delete(id)
    return { subscription: id }
  }

  close(): void {
    this.#closed = true
    for (const { stop } of this.#running.values()) stop()
    this.#running.clear()
  }
}
