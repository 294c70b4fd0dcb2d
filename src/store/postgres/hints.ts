import pg from 'pg'
import { APPROVAL_HINT_CHANNEL } from '../../approvals/stored/approval-tables.ts'
import { connectionConfig } from '../../database/postgres/connection-pool.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { systemClock, type Ticker } from '../../engine/core/time/clock.ts'
import { createListeners } from '../../engine/core/values/listeners.ts'
import { RUN_HINT_CHANNEL } from '../../runs/stored/run-tables.ts'
import { HINT_CHANNEL } from '../../stored-hooks/hook-tables.ts'

const MIN_DELAY_MS = 100
const MAX_DELAY_MS = 5_000
/** A firewall may drop a connection silently; a regular query finds out. */
const PING_MS = 15_000

/** Listens for changes on other nodes. After a reconnect it calls the listeners too, because a hint may be lost. */
export class Hints {
  readonly #url: string
  readonly #log: Log
  readonly #definitions = createListeners()
  readonly #runs = createListeners<string | undefined>()
  readonly #approvals = createListeners<string | undefined>()
  readonly on = this.#definitions.on
  readonly onRun = this.#runs.on
  readonly onApproval = this.#approvals.on
  #isClosed = false
  #client: pg.Client | undefined
  #timer: Ticker | undefined
  #delay = MIN_DELAY_MS
  #connecting: Promise<void>

  constructor(url: string, log: Log) {
    this.#url = url
    this.#log = log
    this.#connecting = this.#connect()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.stop()
    // A connection cannot be ended while it connects; the connection timeout bounds this delay.
    await this.#connecting
    await this.#client?.end().catch(() => {})
  }

  #every(ms: number, tick: () => void): void {
    this.#timer?.stop()
    if (this.#isClosed) return
    this.#timer = systemClock.every(ms, tick)
    this.#timer.hold(false)
  }

  #reconnect(lost: pg.Client, why: unknown): void {
    lost.end().catch(() => {})
    if (this.#isClosed || this.#client !== lost) return
    this.#client = undefined
    this.#log('store.listen_lost', { why: why instanceof Error ? why.message : String(why) })
    // Jitter, so that nodes do not reconnect all at once.
    this.#every(this.#delay * (0.5 + Math.random() / 2), () => {
      this.#timer?.stop()
      this.#connecting = this.#connect()
    })
    this.#delay = Math.min(this.#delay * 2, MAX_DELAY_MS)
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(connectionConfig(this.#url))
    this.#client = client
    const lost = (why: unknown) => this.#reconnect(client, why)
    client.on('error', lost)
    client.on('end', () => lost('the connection ended'))
    client.on('notification', ({ channel, payload }) => {
      if (channel === RUN_HINT_CHANNEL) void this.#runs.notify(payload)
      else if (channel === APPROVAL_HINT_CHANNEL) void this.#approvals.notify(payload)
      else void this.#definitions.notify()
    })
    try {
      await client.connect()
      const channels = [HINT_CHANNEL, RUN_HINT_CHANNEL, APPROVAL_HINT_CHANNEL]
      await client.query(channels.map((channel) => `listen ${channel}`).join('; '))
    } catch (error) {
      return lost(error)
    }
    this.#delay = MIN_DELAY_MS
    this.#every(PING_MS, () => client.query('select 1').catch(lost))
    void this.#definitions.notify()
    void this.#runs.notify(undefined)
    void this.#approvals.notify(undefined)
  }
}
