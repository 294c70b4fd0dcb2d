import pg from 'pg'
import { type Clock, systemClock, type Ticker } from '../../engine/core/clock.ts'
import type { Log } from '../../engine/core/sink.ts'
import { connectionConfig } from './connection-pool.ts'

export const HINT_CHANNEL = 'hookhelm_definitions'

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5_000
/** A connection that a firewall forgot stays silent for ever; asking finds out. */
const ASK_MS = 15_000

export interface Hints {
  on(listener: () => void): () => void
  close(): Promise<void>
}

/** Listens for changes that other nodes announce. After each reconnect listeners are called too: a hint may have been lost. */
export function listenForHints(url: string, log: Log, clock: Clock = systemClock): Hints {
  const listeners = new Set<() => void>()
  const call = () => {
    for (const listener of listeners) listener()
  }
  let closed = false
  let client: pg.Client | undefined
  let timer: Ticker | undefined
  let wait = FIRST_WAIT_MS
  let connecting: Promise<void> = Promise.resolve()

  const every = (ms: number, tick: () => void) => {
    timer?.stop()
    if (closed) return
    timer = clock.every(ms, tick)
    timer.hold(false)
  }
  const lost = (of: pg.Client, why: unknown) => {
    of.end().catch(() => {})
    if (closed || client !== of) return
    client = undefined
    log('store.listen_lost', { why: why instanceof Error ? why.message : String(why) })
    // Between half and the whole of the wait, so that nodes do not come back all at once.
    every(wait * (0.5 + Math.random() / 2), start)
    wait = Math.min(wait * 2, LONGEST_WAIT_MS)
  }
  const connect = async () => {
    const next = new pg.Client(connectionConfig(url))
    client = next
    next.on('error', (error) => lost(next, error))
    next.on('end', () => lost(next, 'the connection ended'))
    next.on('notification', call)
    try {
      await next.connect()
      await next.query(`listen ${HINT_CHANNEL}`)
    } catch (error) {
      return lost(next, error)
    }
    wait = FIRST_WAIT_MS
    every(ASK_MS, () => next.query('select 1').catch((error: unknown) => lost(next, error)))
    call()
  }
  const start = () => {
    timer?.stop()
    connecting = connect()
  }

  start()
  return {
    on(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      closed = true
      timer?.stop()
      // A connection that is being made cannot be ended; making it takes no longer than its own limit.
      await connecting
      await client?.end().catch(() => {})
    },
  }
}
