import { errorText } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import { rerun } from '../../engine/core/time/rerun.ts'
import type { SubscriptionMethod } from '../../methods/method.ts'
import { type MethodContext, prepareCall } from './call-method.ts'

/** A subscription whose parameters are checked and which has sent nothing yet. */
export interface PreparedSubscription {
  /** The position of the first item. */
  readonly cursor: string
  /** What SSE sends before the first item. */
  readonly first: { readonly event: string; readonly data: unknown } | undefined
  /** Sends items until the returned function is called. */
  start(send: (item: unknown, cursor: string) => void): () => void
}

interface SubscriptionContext extends MethodContext {
  readonly clock: Clock
  readonly log: Log
}

/** Other nodes write without notifying this one, so the store is also read periodically. */
const POLL_MS = 1_000
const PAGE = 100

/** Checks role, parameters and cursor; rejects as a call of the method would. */
export async function prepareSubscription(
  row: SubscriptionMethod,
  given: unknown,
  context: SubscriptionContext,
): Promise<PreparedSubscription> {
  const call = prepareCall(row, given, context)
  const from = call.params.cursor === '' ? undefined : call.params.cursor
  const { nextCursor } = await row.run({ ...call, params: { ...call.params, limit: 1 } })
  const cursor = from ?? nextCursor
  return {
    cursor,
    first: from === undefined ? await row.first?.(call) : undefined,
    start: (send) =>
      follow({
        ...context,
        cursor,
        read: (after) => row.run({ ...call, params: { ...call.params, cursor: after, limit: PAGE } }),
        itemsOf: row.itemsOf,
        cursorOf: row.cursorOf,
        watch: (listener) => row.watch(call.parts, listener),
        send,
      }),
  }
}

interface Following<Page> {
  readonly cursor: string
  read(after: string): Promise<Page>
  itemsOf(page: Page): readonly unknown[]
  readonly cursorOf: SubscriptionMethod['cursorOf']
  watch(listener: () => void): () => void
  send(item: unknown, cursor: string): void
  readonly caller: { readonly tenant: string }
  readonly clock: Clock
  readonly log: Log
}

/**
 * Sends items as they arise. Items without a cursor of their own carry the one at which their page began, except for the
 * last: a client that resumes there receives some items twice and misses none.
 */
function follow<Page extends { readonly nextCursor: string }>(feed: Following<Page>): () => void {
  const { clock, log, caller } = feed
  let { cursor } = feed
  let stopped = false

  async function sendPage(): Promise<boolean> {
    const page = await feed.read(cursor)
    if (stopped) return false
    const items = feed.itemsOf(page)
    const before = cursor
    if (page.nextCursor !== '') cursor = page.nextCursor
    for (const [index, item] of items.entries()) {
      if (stopped) return false
      feed.send(item, index === items.length - 1 ? cursor : (feed.cursorOf?.(item) ?? before))
    }
    return items.length === PAGE
  }

  const sendNew = rerun(async () => {
    try {
      while (!stopped && (await sendPage()));
    } catch (thrown) {
      // The next attempt reads from the same cursor.
      log('gateway.tail_failed', { tenant: caller.tenant, error: errorText(thrown) })
    }
  })

  const unwatch = feed.watch(() => void sendNew())
  const poll = clock.every(POLL_MS, () => void sendNew())
  void sendNew()
  return () => {
    stopped = true
    unwatch()
    poll.stop()
  }
}
