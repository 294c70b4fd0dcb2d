import type { NewDelivery } from '../../deliveries/delivery-table.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { after } from '../../engine/core/values/after.ts'
import type { Clock, Ticker } from '../../engine/core/values/clock.ts'
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

/** Group commit: dispatches add their records here and continue. */
export interface AuditQueue {
  add(item: AuditItem): void
  /** Resolves when the item is on disk. Rejects if it cannot be written; the item is then dropped. */
  commit(item: AuditItem): Promise<void>
  /** True while writing falls behind. Callers should then wait for `settled` before they answer. */
  isBehind(): boolean
  /**
   * Resolves when the current groups are written, or after a time limit: a gate does not wait for a store that hangs.
   */
  settled(): Promise<void>
  /** Resolves when everything added so far was written or has failed. */
  flushed(): Promise<void>
  /** Calls back after each written group. Returns the undo function. */
  onWritten(listener: () => void): () => void
  readonly status: StatusPart
  close(): Promise<void>
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

export function createAuditQueue({
  store,
  clock,
  log,
}: {
  readonly store: Pick<Store, 'recordEvents'>
  readonly clock: Clock
  readonly log: Log
}): AuditQueue {
  let waiting: Waiting[] = []
  /** Groups being written, oldest first. They do not wait for each other, so that a slow disk does not delay all. */
  const groups = new Set<readonly Waiting[]>()
  let ticker: Ticker | undefined
  let written: Promise<void> = Promise.resolve()
  let settling: Promise<void> | undefined
  let failure: string | undefined
  let failedAt = 0
  let lost = 0
  let isClosed = false
  const { on: onWritten, notify } = createListeners()

  const stopTicker = () => {
    ticker?.stop()
    ticker = undefined
  }
  const hasRoom = () => groups.size < (failure === undefined ? MAX_UNDER_WAY : 1)
  const wake = (isUrgent: boolean) => {
    if (!hasRoom()) return
    const isDown = failure !== undefined && clock.elapsed() - failedAt < RETRY_MS
    const isDue = waiting.length >= GROUP || (isUrgent && groups.size === 0)
    if (isDue && !isDown) return start()
    ticker ??= clock.every(isDown ? RETRY_MS : WAIT_MS, start)
  }
  const start = () => {
    stopTicker()
    // After a failure an empty group is written too: a node that is not ready receives no event that could show its
    // recovery.
    if (!hasRoom() || (waiting.length === 0 && failure === undefined)) return
    const group = waiting.slice(0, GROUP)
    waiting = waiting.slice(GROUP)
    groups.add(group)
    const done = write(group).then(() => {
      groups.delete(group)
      if (isClosed) return
      if (waiting.length > 0 || failure !== undefined) wake(failure === undefined)
    })
    const before = written
    written = done.then(() => before)
  }

  const write = async (group: readonly Waiting[]) => {
    try {
      await record(store, group)
      failure = undefined
      for (const { resolve } of group) resolve?.()
      void notify()
    } catch (thrown) {
      failed(group, thrown)
    }
  }
  const failed = (group: readonly Waiting[], thrown: unknown) => {
    const error = errorText(thrown)
    failure = error
    failedAt = clock.elapsed()
    if (group.length > 0) log('security.hook.audit_write_failed', { events: group.length, error })
    // Waiting callers get the error and may retry. The others have their answer, so their records are written again.
    for (const { reject } of group) reject?.(thrown)
    waiting = [...group.filter(({ reject }) => reject === undefined), ...waiting]
    if (waiting.length <= MAX_KEPT) return
    const dropped = waiting.length - MAX_KEPT
    for (const { reject } of waiting.slice(0, dropped)) reject?.(thrown)
    waiting = waiting.slice(dropped)
    lost += dropped
    log('security.hook.audit_lost', { events: dropped, total: lost })
  }

  return {
    add(item) {
      waiting.push({ item, since: clock.elapsed() })
      wake(false)
    },
    commit: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, since: clock.elapsed(), resolve, reject })
        // While the store is down, no caller waits for the next attempt.
        wake(true)
      }),
    isBehind() {
      const [group = waiting] = groups
      const [oldest] = group
      return failure === undefined && oldest !== undefined && clock.elapsed() - oldest.since > BEHIND_MS
    },
    settled() {
      wake(true)
      settling ??= patiently(written, clock).finally(() => {
        settling = undefined
      })
      return settling
    },
    async flushed() {
      // One group may be in progress, and the next holds what came meanwhile.
      for (let left = Math.ceil(waiting.length / GROUP) + 1; left > 0 && failure === undefined; left--) {
        await written
        if (waiting.length === 0) break
        start()
      }
      await written
    },
    onWritten,
    status: () => {
      const underWay = [...groups].reduce((sum, group) => sum + group.length, 0)
      const details = { waiting: waiting.length + underWay, lost }
      if (failure !== undefined)
        return { name: 'audit', state: 'bad', text: `cannot be written: ${failure}`, details }
      if (lost > 0) return { name: 'audit', state: 'warn', text: `${lost} records were lost`, details }
      return { name: 'audit', state: 'ok', text: 'written', details }
    },
    async close() {
      isClosed = true
      for (let attempt = 0; attempt < 20 && waiting.length + groups.size > 0; attempt++) {
        start()
        await written
      }
      stopTicker()
    },
  }
}

function patiently(written: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const callOff = after(clock, PATIENCE_MS, resolve)
    written.finally(() => {
      callOff()
      resolve()
    })
  })
}

async function record(store: Pick<Store, 'recordEvents'>, group: readonly Waiting[]): Promise<void> {
  const events = group.flatMap(({ item }) => (item.event === undefined ? [] : [item.event()]))
  const deliveries = group.flatMap(({ item }) => item.deliveries ?? [])
  const answers = group.flatMap(({ item }) => item.answers ?? [])
  await store.recordEvents(events, deliveries, answers)
}
