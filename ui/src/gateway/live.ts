import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import type { Subscriptions } from '../../../src/client/index.ts'
import { chosenTenant } from './call.ts'

type Params = Readonly<Record<string, unknown>>

interface Subscription {
  readonly method: string
  readonly params: Params
  /** Where to go on after a lost connection; undefined until the gateway named one. */
  cursor: string | undefined
  receive(item: unknown): void
  /** The gateway named the first cursor: what changes from now on arrives. */
  start(): void
}

interface Receiver {
  item(item: unknown): void
  start(): void
}

/** One subscription and the components that receive its items. */
interface Feed {
  readonly receivers: Set<Receiver>
  end(): void
}

/** What the gateway sends: the reply to a request, or an item of a subscription. */
type Frame =
  | {
      readonly type: 'res'
      readonly id: string
      readonly ok: true
      readonly payload: { readonly subscription: string; readonly cursor: string }
    }
  | { readonly type: 'res'; readonly id: string; readonly ok: false }
  | {
      readonly type: 'event'
      readonly subscription?: string
      readonly cursor: string
      readonly payload: unknown
    }

export type ConnectionState = 'connecting' | 'open' | 'lost'

const MIN_WAIT_MS = 250
const MAX_WAIT_MS = 5_000

/**
 * One WebSocket for all subscriptions of the page. After a lost connection it connects again and resumes each
 * subscription after its last item, so that nothing is missing.
 */
class LiveConnection {
  #socket: WebSocket | undefined
  #state: ConnectionState = 'connecting'
  #waitMs = MIN_WAIT_MS
  #lastId = 0
  readonly #feeds = new Map<string, Feed>()
  readonly #wanted = new Set<Subscription>()
  readonly #requested = new Map<string, Subscription>()
  readonly #running = new Map<unknown, Subscription>()
  readonly #listeners = new Set<() => void>()

  readonly state = () => this.#state

  readonly onChange = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Receivers of the same feed share one subscription. Returns the function that ends receiving. */
  follow(method: string, params: Params, receiver: Receiver): () => void {
    const key = JSON.stringify([method, params])
    const feed = this.#feeds.get(key) ?? this.#openFeed(key, method, params)
    feed.receivers.add(receiver)
    return () => {
      feed.receivers.delete(receiver)
      if (feed.receivers.size > 0 || this.#feeds.get(key) !== feed) return
      this.#feeds.delete(key)
      feed.end()
    }
  }

  #openFeed(key: string, method: string, params: Params): Feed {
    const receivers = new Set<Receiver>()
    const receive = (item: unknown) => {
      for (const receiver of receivers) receiver.item(item)
    }
    const start = () => {
      for (const receiver of receivers) receiver.start()
    }
    const feed = { receivers, end: this.#subscribe({ method, params, cursor: undefined, receive, start }) }
    this.#feeds.set(key, feed)
    return feed
  }

  /** Returns the function that ends the subscription. */
  #subscribe(subscription: Subscription): () => void {
    this.#wanted.add(subscription)
    if (this.#socket === undefined) this.#connect()
    else if (this.#state === 'open') this.#request(subscription)
    return () => {
      this.#wanted.delete(subscription)
      for (const [id, running] of this.#running) if (running === subscription) this.#end(id, subscription)
    }
  }

  /** A connection has few subscriptions, so those of views that were left must end. */
  #end(id: unknown, { method }: Subscription): void {
    this.#running.delete(id)
    this.#send(method.replace(/tail$/, 'untail'), { subscription: id })
  }

  #connect(): void {
    const tenant = chosenTenant()
    const url = new URL('/ws', location.href)
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'
    if (tenant !== undefined) url.searchParams.set('tenant', tenant)
    const socket = new WebSocket(url)
    this.#socket = socket
    socket.onopen = () => {
      this.#waitMs = MIN_WAIT_MS
      this.#change('open')
      for (const subscription of this.#wanted) this.#request(subscription)
    }
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(String(data)))
    socket.onclose = () => {
      this.#requested.clear()
      this.#running.clear()
      this.#change('lost')
      setTimeout(() => this.#connect(), this.#waitMs)
      this.#waitMs = Math.min(this.#waitMs * 2, MAX_WAIT_MS)
    }
  }

  #request(subscription: Subscription): void {
    const { method, params, cursor } = subscription
    this.#requested.set(
      this.#send(method, cursor === undefined ? params : { ...params, cursor }),
      subscription,
    )
  }

  /** Returns the id that the reply will have. */
  #send(method: string, params: Params): string {
    const id = `s${++this.#lastId}`
    if (this.#socket?.readyState === WebSocket.OPEN)
      this.#socket.send(JSON.stringify({ type: 'req', id, method, params }))
    return id
  }

  #receive(frame: Frame): void {
    if (frame.type === 'res') {
      const subscription = this.#requested.get(frame.id)
      this.#requested.delete(frame.id)
      if (subscription === undefined) return
      if (!frame.ok) this.#startOver(subscription)
      else if (this.#wanted.has(subscription)) {
        this.#running.set(frame.payload.subscription, subscription)
        if (subscription.cursor !== undefined) return
        subscription.cursor = frame.payload.cursor
        subscription.start()
      } else this.#end(frame.payload.subscription, subscription)
    } else if (frame.type === 'event') {
      const subscription = this.#running.get(frame.subscription)
      if (subscription === undefined) return
      subscription.cursor = frame.cursor
      subscription.receive(frame.payload)
    }
  }

  /**
   * Requests a refused subscription again. A gateway whose data was restored may not know the cursor any more, so the
   * subscription begins anew. A request without a cursor was refused for another reason, such as a busy database: it is
   * repeated after some time, because a view that silently stops following would show old data as live.
   */
  #startOver(subscription: Subscription): void {
    if (!this.#wanted.has(subscription)) return
    const socket = this.#socket
    const isRefusedAnew = subscription.cursor === undefined
    subscription.cursor = undefined
    if (!isRefusedAnew) return this.#request(subscription)
    setTimeout(() => {
      // A new connection has requested it already.
      if (this.#socket === socket && this.#wanted.has(subscription)) this.#request(subscription)
    }, MAX_WAIT_MS)
  }

  #change(state: ConnectionState): void {
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}

const connection = new LiveConnection()

/** Whether live data arrives. */
export function useConnectionState(): ConnectionState {
  return useSyncExternalStore(connection.onChange, connection.state)
}

/**
 * Receives the items of a subscription while the component is shown. `onStart` is called when the subscription begins, if
 * it did not run already: what was read before may lack a change that no item tells.
 */
export function useSubscription<M extends keyof Subscriptions>(
  method: M,
  params: Subscriptions[M]['params'],
  { onItem, onStart }: SubscriptionCallbacks<Subscriptions[M]['item']>,
): void {
  const receive = useEffectEvent((item: unknown) => onItem(item as Subscriptions[M]['item']))
  const started = useEffectEvent(() => onStart?.())
  const key = JSON.stringify(params)
  useEffect(
    () =>
      connection.follow(method, JSON.parse(key), { item: (item) => receive(item), start: () => started() }),
    [method, key],
  )
}

interface SubscriptionCallbacks<Item> {
  readonly onItem: (item: Item) => void
  readonly onStart?: () => void
}
