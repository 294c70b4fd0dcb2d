import type { SqlDatabase } from '../../database/sql-database.ts'
import { isHookError } from '../../engine/core/errors/error.ts'
import { nextTurn, systemClock, type Ticker } from '../../engine/core/values/clock.ts'
import { type AuditChain, openChain } from './audit-chain.ts'
import { sealRows } from './audit-group.ts'
import { countWaitingEvents, readOldestEntry, remainingEntries } from './journal.ts'

/** Writes the rows of journal entries: when recording pauses, before a read, and when too many events wait. */
export interface Projector {
  /** Counts appended events. Waits while too many are in the journal. */
  appended(events: number): Promise<void>
  /** Resolves when everything is in rows, or after the limit. */
  catchUp(limitMs?: number): Promise<void>
  /** The position of the first entry that this node could not write and that still exists. */
  firstUnreadable(): Promise<number | undefined>
  stop(): Promise<void>
}

const CHECK_MS = 100
/** How long recording must pause. The events of a working agent come one by one, and cost less in a group. */
const QUIET_MS = 500
/** A burst up to this size is recorded at the speed of the journal, a longer one at the speed of rows. */
const MAX_WAITING = 50_000
const MAX_FAILURES = 5

export async function createProjector(
  db: SqlDatabase,
  countKeyUses: () => Promise<void>,
): Promise<Projector> {
  const clock = systemClock
  let waiting = await countWaitingEvents(db)
  let appendedAt = Number.NEGATIVE_INFINITY
  let chain: AuditChain | undefined
  let working: Promise<boolean> | undefined
  let ticker: Ticker | undefined
  let failing = { position: -1, failures: 0 }
  /** Skipped, so that later entries need not wait for them. Another node, another key or the next start may read them. */
  const skipped = new Set<number>()

  /** Writes one entry. False if there is none. */
  const projectOne = async (): Promise<boolean> => {
    const entry = await readOldestEntry(db, [...skipped])
    if (entry === undefined) {
      waiting = 0
      return false
    }
    const { position, events, batch } = entry
    if (batch === undefined || (failing.position === position && failing.failures >= MAX_FAILURES)) {
      skipped.add(position)
      waiting = Math.max(0, waiting - events)
      return true
    }
    try {
      const rows = sealRows(db.secrets, batch)
      // If writing fails, the head of the chain is unknown, so the next group starts a new chain.
      const current = chain ?? (await openChain(db))
      chain = undefined
      await db.statements.writeGroup({ ...rows, chain: current, entry: position })
      chain = current
    } catch (thrown) {
      // An unavailable database is not a fault of the entry.
      if (codeOf(thrown) !== 'store.unavailable')
        failing = { position, failures: failing.position === position ? failing.failures + 1 : 1 }
      throw thrown
    }
    waiting = Math.max(0, waiting - events)
    await countKeyUses()
    return true
  }
  /** Entries are written one after the other: each continues the chain of the one before. */
  const projectNext = (): Promise<boolean> => {
    working ??= projectOne().finally(() => {
      working = undefined
    })
    return working
  }

  const projectWhileQuiet = async () => {
    while (clock.elapsed() - appendedAt >= QUIET_MS && (await projectNext())) await nextTurn()
    if (waiting === 0) stopTicker()
  }
  const stopTicker = () => {
    ticker?.stop()
    ticker = undefined
  }
  const startTicker = () => {
    if (ticker !== undefined) return
    let isBusy = false
    ticker = clock.every(CHECK_MS, () => {
      if (isBusy) return
      isBusy = true
      // After a failure the next tick tries again, and a reader gets the error.
      projectWhileQuiet()
        .catch(() => {})
        .finally(() => {
          isBusy = false
        })
    })
    ticker.hold(false)
  }
  if (waiting > 0) startTicker()

  return {
    async appended(events) {
      if (events === 0) return
      waiting += events
      appendedAt = clock.elapsed()
      startTicker()
      if (waiting > MAX_WAITING) await projectNext()
    },
    async catchUp(limitMs = Number.POSITIVE_INFINITY) {
      const until = clock.elapsed() + limitMs
      // The current run may have read the journal before the last append.
      await working?.catch(() => {})
      // Other nodes append too, so this reads the journal instead of our own count. Entries that keep failing are skipped;
      // if the database is unavailable, the read that follows reports it.
      for (let failures = 0; failures <= MAX_FAILURES && clock.elapsed() <= until; ) {
        const outcome = await projectNext().catch(classifyFailure)
        if (outcome === false) return
        failures = outcome === 'failed' ? failures + 1 : 0
        await nextTurn()
      }
    },
    firstUnreadable: async () => (await remainingEntries(db, [...skipped]))[0],
    async stop() {
      stopTicker()
      await working?.catch(() => {})
    },
  }
}

/** Throws if the database is corrupt; false if it is unavailable, so that trying again now is pointless. */
function classifyFailure(thrown: unknown): 'failed' | false {
  if (codeOf(thrown) === 'store.corrupt') throw thrown
  return codeOf(thrown) === 'store.unavailable' ? false : 'failed'
}

function codeOf(thrown: unknown): string {
  return isHookError(thrown) ? thrown.code : ''
}
