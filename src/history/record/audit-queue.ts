import type { NewDelivery } from '../../deliveries/delivery-table.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { endedWithin } from '../../engine/core/time/after.ts'
import type { Clock, Ticker } from '../../engine/core/time/clock.ts'
import { createListeners } from '../../engine/core/values/listeners.ts'
import type { StatusPart } from '../../methods/status-part.ts'
import type { Store } from '../../store/store.ts'
import type { EventRecord, NewAnswer } from '../audit-tables.ts'

/** One dispatch to write, with its deliveries and kept answers. */
export interface AuditItem {
  /** Built when the group is written, so that the dispatch does not wait for it. */
  readonly event?: () => EventRecord
  readonly deliveries?: readonly NewDelivery[]
  readonly answers?: readonly NewAnswer[]
}

interface AuditQueueParts {
  readonly store: Pick<Store, 'recordEvents'>
  readonly clock: Clock
  readonly log: Log
}

interface Waiting {
  readonly item: AuditItem
  readonly since: number
  readonly resolve?: () => void
  readonly reject?: (reason: unknown) => void
}

const GROUP = 400
const WAIT_MS = 5
/** A queue older than this has fallen behind. */
const BEHIND_MS = 20
/** The number of records to keep while the store is down. Beyond it the oldest are dropped, and a log entry says so. */
const MAX_KEPT = 20_000
/** Groups that are written at the same time. */
const MAX_UNDER_WAY = 3
const RETRY_MS = 250
const PATIENCE_MS = 1_000

/** Group commit: dispatches add their records here and continue. */
export class AuditQueue {
  readonly #parts: AuditQueueParts
  readonly #listeners = createListeners()
  /** Calls back after each written group. Returns the undo function. */
  readonly onWritten = this.#listeners.on
  #waiting: Waiting[] = []
  /** Groups being written, oldest first. They do not wait for each other, so that a slow disk does not delay all. */
  readonly #groups = new Set<readonly Waiting[]>()
  #ticker: Ticker | undefined
  #written: Promise<void> = Promise.resolve()
  #settling: Promise<void> | undefined
  #failure: string | undefined
  #failedAt = 0
  #lost = 0
  #isClosed = false

  constructor(parts: AuditQueueParts) {
    this.#parts = parts
  }

  add(item: AuditItem): void {
    this.#waiting.push({ item, since: this.#parts.clock.elapsed() })
    this.#wake(false)
  }

  /** Resolves when the item is on disk. Rejects if it cannot be written; the item is then dropped. */
  commit(item: AuditItem): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, since: this.#parts.clock.elapsed(), resolve, reject })
      // While the store is down, no caller waits for the next attempt.
      this.#wake(true)
    })
  }

  /** True while writing falls behind. Callers should then wait for `settled` before they answer. */
  isBehind(): boolean {
    const [group = this.#waiting] = this.#groups
    const [oldest] = group
    if (this.#failure !== undefined || oldest === undefined) return false
    return this.#parts.clock.elapsed() - oldest.since > BEHIND_MS
  }

  /** Resolves when the current groups are written, or after a time limit: a gate does not wait for a store that hangs. */
  settled(): Promise<void> {
    this.#wake(true)
    this.#settling ??= endedWithin(this.#parts.clock, PATIENCE_MS, this.#written).finally(() => {
      this.#settling = undefined
    })
    return this.#settling
  }

  /** Resolves when everything added so far was written or has failed. */
  async flushed(): Promise<void> {
    // One group may be in progress, and the next holds what came meanwhile.
    let left = Math.ceil(this.#waiting.length / GROUP) + 1
    for (; left > 0 && this.#failure === undefined; left--) {
      await this.#written
      if (this.#waiting.length === 0) break
      this.#start()
    }
    await this.#written
  }

  readonly status: StatusPart = () => {
    const underWay = [...this.#groups].reduce((sum, group) => sum + group.length, 0)
    const details = { waiting: this.#waiting.length + underWay, lost: this.#lost }
    if (this.#failure !== undefined)
      return { name: 'audit', state: 'bad', text: `cannot be written: ${this.#failure}`, details }
    if (this.#lost > 0)
      return { name: 'audit', state: 'warn', text: `${this.#lost} records were lost`, details }
    return { name: 'audit', state: 'ok', text: 'written', details }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (let attempt = 0; attempt < 20 && this.#waiting.length + this.#groups.size > 0; attempt++) {
      this.#start()
      await this.#written
    }
    this.#stopTicker()
  }

  #stopTicker(): void {
    this.#ticker?.stop()
    this.#ticker = undefined
  }

  #hasRoom(): boolean {
    return this.#groups.size < (this.#failure === undefined ? MAX_UNDER_WAY : 1)
  }

  #wake(isUrgent: boolean): void {
    if (!this.#hasRoom()) return
    const { clock } = this.#parts
    const isDown = this.#failure !== undefined && clock.elapsed() - this.#failedAt < RETRY_MS
    const isDue = this.#waiting.length >= GROUP || (isUrgent && this.#groups.size === 0)
    if (isDue && !isDown) return this.#start()
    this.#ticker ??= clock.every(isDown ? RETRY_MS : WAIT_MS, this.#start)
  }

  readonly #start = (): void => {
    this.#stopTicker()
    // After a failure an empty group is written too: a node that is not ready receives no event that could show its
    // recovery.
    if (!this.#hasRoom() || (this.#waiting.length === 0 && this.#failure === undefined)) return
    const group = this.#waiting.slice(0, GROUP)
    this.#waiting = this.#waiting.slice(GROUP)
    this.#groups.add(group)
    const done = this.#write(group).then(() => {
      this.#groups.delete(group)
      if (this.#isClosed) return
      if (this.#waiting.length > 0 || this.#failure !== undefined) this.#wake(this.#failure === undefined)
    })
    const before = this.#written
    this.#written = done.then(() => before)
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    try {
      await record(this.#parts.store, group)
      this.#failure = undefined
      for (const { resolve } of group) resolve?.()
      void this.#listeners.notify()
    } catch (thrown) {
      this.#failed(group, thrown)
    }
  }

  #failed(group: readonly Waiting[], thrown: unknown): void {
    const { clock, log } = this.#parts
    const error = errorText(thrown)
    this.#failure = error
    this.#failedAt = clock.elapsed()
    if (group.length > 0) log('security.hook.audit_write_failed', { events: group.length, error })
    // Waiting callers get the error and may retry. The others have their answer, so their records are written again.
    for (const { reject } of group) reject?.(thrown)
    this.#waiting = [...group.filter(({ reject }) => reject === undefined), ...this.#waiting]
    const dropped = this.#waiting.length - MAX_KEPT
    if (dropped <= 0) return
    for (const { reject } of this.#waiting.splice(0, dropped)) reject?.(thrown)
    this.#lost += dropped
    log('security.hook.audit_lost', { events: dropped, total: this.#lost })
  }
}

async function record(store: Pick<Store, 'recordEvents'>, group: readonly Waiting[]): Promise<void> {
  const events = group.flatMap(({ item }) => (item.event === undefined ? [] : [item.event()]))
  const deliveries = group.flatMap(({ item }) => item.deliveries ?? [])
  const answers = group.flatMap(({ item }) => item.answers ?? [])
  await store.recordEvents(events, deliveries, answers)
}
