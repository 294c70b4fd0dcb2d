import pg from 'pg'
import { APPROVAL_HINT_CHANNEL } from '../../approvals/stored/approval-tables.ts'
import { connectionConfig } from '../../database/postgres/connection-pool.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { type Clock, systemClock, type Ticker } from '../../engine/core/values/clock.ts'
import { createListeners } from '../../engine/core/values/listeners.ts'
import { RUN_HINT_CHANNEL } from '../../runs/stored/run-tables.ts'
import { HINT_CHANNEL } from '../../stored-hooks/hook-tables.ts'
import type { Store } from '../store.ts'

const MIN_DELAY_MS = 100
const MAX_DELAY_MS = 5_000
/** A firewall may drop a connection silently; a regular query finds out. */
const PING_MS = 15_000

export interface Hints {
  on: Store['onHint']
  onRun: Store['onRunHint']
  onApproval: Store['onApprovalHint']
  close(): Promise<void>
}

/** Listens for changes on other nodes. After a reconnect it calls the listeners too, because a hint may be lost. */
export function listenForHints(url: string, log: Log, clock: Clock = systemClock): Hints {
  const definitions = createListeners()
  const runs = createListeners<string | undefined>()
  const approvals = createListeners<string | undefined>()
  let closed = false
  let client: pg.Client | undefined
  let timer: Ticker | undefined
  let delay = MIN_DELAY_MS
  let connecting: Promise<void> = Promise.resolve()

  const every = (ms: number, tick: () => void) => {
    timer?.stop()
    if (closed) return
    timer = clock.every(ms, tick)
    timer.hold(false)
  }
  const reconnect = (lost: pg.Client, why: unknown) => {
    lost.end().catch(() => {})
    if (closed || client !== lost) return
    client = undefined
    log('store.listen_lost', { why: why instanceof Error ? why.message : String(why) })
    // Jitter, so that nodes do not reconnect all at once.
    every(delay * (0.5 + Math.random() / 2), start)
    delay = Math.min(delay * 2, MAX_DELAY_MS)
  }
  const connect = async () => {
    const next = new pg.Client(connectionConfig(url))
    client = next
    next.on('error', (error) => reconnect(next, error))
    next.on('end', () => reconnect(next, 'the connection ended'))
    next.on('notification', ({ channel, payload }) => {
      if (channel === RUN_HINT_CHANNEL) void runs.notify(payload)
      else if (channel === APPROVAL_HINT_CHANNEL) void approvals.notify(payload)
      else void definitions.notify()
    })
    try {
      await next.connect()
      const channels = [HINT_CHANNEL, RUN_HINT_CHANNEL, APPROVAL_HINT_CHANNEL]
      await next.query(channels.map((channel) => `listen ${channel}`).join('; '))
    } catch (error) {
      return reconnect(next, error)
    }
    delay = MIN_DELAY_MS
    every(PING_MS, () => next.query('select 1').catch((error: unknown) => reconnect(next, error)))
    void definitions.notify()
    void runs.notify(undefined)
    void approvals.notify(undefined)
  }
  const start = () => {
    timer?.stop()
    connecting = connect()
  }

  start()
  return {
    on: definitions.on,
    onRun: runs.on,
    onApproval: approvals.on,
    async close() {
      closed = true
      timer?.stop()
      // A connection cannot be ended while it connects; the connection timeout bounds this delay.
      await connecting
      await client?.end().catch(() => {})
    },
  }
}
