import type { SqlDatabase } from '../../database/sql-database.ts'
import { isHookError } from '../../engine/core/errors/error.ts'
import { repeat } from '../../engine/core/time/after.ts'
import { systemClock as clock, nextTurn, type Ticker } from '../../engine/core/time/clock.ts'
import { type AuditChain, openChain } from './audit-chain.ts'
import { sealRows } from './audit-group.ts'
import { readOldestEntry, remainingEntries } from './journal.ts'

const CHECK_MS = 100
/** How long recording must pause. The events of a working agent come one by one, and cost less in a group. */
const QUIET_MS = 500
/** A burst up to this size is recorded at the speed of the journal, a longer one at the speed of rows. */
const MAX_WAITING = 50_000
const MAX_FAILURES = 5

/** Writes the rows of journal entries: when recording pauses, before a read, and when too many events wait. */
export class Projector {
  readonly #db: SqlDatabase
  readonly #countKeyUses: () => Promise<void>
  #waiting: number
  #appendedAt = Number.NEGATIVE_INFINITY
  #chain: AuditChain | undefined
  #working: Promise<boolean> | undefined
  #ticker: Ticker | undefined
  #failing = { position: -1, failures: 0 }
  /** Skipped, so that later entries need not wait for them. Another node, another key or the next start may read them. */
  readonly #skipped = new Set<number>()

  /** `waiting`: how many events are in the journal. */
  constructor(db: SqlDatabase, waiting: number, countKeyUses: () => Promise<void>) {
    this.#db = db
    this.#waiting = waiting
    this.#countKeyUses = countKeyUses
    if (waiting > 0) this.#startTicker()
  }

  /** Counts appended events. Waits while too many are in the journal. */
  async appended(events: number): Promise<void> {
    if (events === 0) return
    this.#waiting += events
    this.#appendedAt = clock.elapsed()
    this.#startTicker()
    if (this.#waiting > MAX_WAITING) await this.#projectNext()
  }

  /** Resolves when everything is in rows, or after the limit. */
  async catchUp(limitMs = Number.POSITIVE_INFINITY): Promise<void> {
    const until = clock.elapsed() + limitMs
    // The current run may have read the journal before the last append.
    await this.#working?.catch(() => {})
    // Other nodes append too, so this reads the journal instead of our own count. Entries that keep failing are skipped;
    // if the database is unavailable, the read that follows reports it.
    for (let failures = 0; failures <= MAX_FAILURES && clock.elapsed() <= until; ) {
      const outcome = await this.#projectNext().catch(classifyFailure)
      if (outcome === false) return
      failures = outcome === 'failed' ? failures + 1 : 0
      await nextTurn()
    }
  }

  /** The position of the first entry that this node could not write and that still exists. */
  async firstUnreadable(): Promise<number | undefined> {
    return (await remainingEntries(this.#db, [...this.#skipped]))[0]
  }

  async stop(): Promise<void> {
    this.#stopTicker()
    await this.#working?.catch(() => {})
  }

  /** Writes one entry. False if there is none. */
  async #projectOne(): Promise<boolean> {
    const db = this.#db
    const entry = await readOldestEntry(db, [...this.#skipped])
    if (entry === undefined) {
      this.#waiting = 0
      return false
    }
    const { position, events, batch } = entry
    const failures = this.#failing.position === position ? this.#failing.failures : 0
    if (batch === undefined || failures >= MAX_FAILURES) {
      this.#skipped.add(position)
      this.#waiting = Math.max(0, this.#waiting - events)
      return true
    }
    try {
      const rows = sealRows(db.secrets, batch)
      // If writing fails, the head of the chain is unknown, so the next group starts a new chain.
      const current = this.#chain ?? (await openChain(db))
      this.#chain = undefined
      await db.statements.writeGroup({ ...rows, chain: current, entry: position })
      this.#chain = current
    } catch (thrown) {
      // An unavailable database is not a fault of the entry.
      if (codeOf(thrown) !== 'store.unavailable') this.#failing = { position, failures: failures + 1 }
      throw thrown
    }
    this.#waiting = Math.max(0, this.#waiting - events)
    await this.#countKeyUses()
    return true
  }

  /** Entries are written one after the other: each continues the chain of the one before. */
  #projectNext(): Promise<boolean> {
    this.#working ??= this.#projectOne().finally(() => {
      this.#working = undefined
    })
    return this.#working
  }

  async #projectWhileQuiet(): Promise<void> {
    while (clock.elapsed() - this.#appendedAt >= QUIET_MS && (await this.#projectNext())) await nextTurn()
    if (this.#waiting === 0) this.#stopTicker()
  }

  /** After a failure the next tick tries again, and a reader gets the error. */
  #startTicker(): void {
    this.#ticker ??= repeat(
      clock,
      CHECK_MS,
      () => this.#projectWhileQuiet(),
      () => {},
    )
  }

  #stopTicker(): void {
    this.#ticker?.stop()
    this.#ticker = undefined
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
