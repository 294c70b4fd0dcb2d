import { nextTurn, systemClock, type Ticker } from '../../../engine/core/clock.ts'
import { isHookError } from '../../../engine/core/error.ts'
import type { Db } from '../sql-database.ts'
import { type Links, openChain } from './audit-chain.ts'
import { sealGroup } from './audit-group.ts'
import { oldestEntry, stillWaiting, waitingEvents } from './journal.ts'

/** Makes rows of what the journal holds: when nobody writes, before anybody reads, and when too much waits. */
export interface Projector {
  /** So many dispatches were appended; waits while too many do. */
  appended(events: number): Promise<void>
  /** Resolves when everything is in rows, or when so much time has passed. */
  settle(limitMs?: number): Promise<void>
  /** The first entry that this node could not make rows of and that is still there. */
  stuckAt(): Promise<number | undefined>
  stop(): Promise<void>
}

const LOOK_MS = 100
/** Nobody has appended for so long. The events of an agent at work come one by one, and cost less together. */
const QUIET_MS = 500
/** A burst is taken at the speed of the journal, what comes after it at the speed of rows. */
const MAX_WAITING = 50_000
const MAX_FAILURES = 5

/** False when it makes no sense to go on now; damage is told to whoever reads. */
function givenUp(thrown: unknown): 'failed' | false {
  if (codeOf(thrown) === 'store.corrupt') throw thrown
  return codeOf(thrown) === 'store.unavailable' ? false : 'failed'
}

function codeOf(thrown: unknown): string {
  return isHookError(thrown) ? thrown.code : ''
}

export async function createProjector(
  db: Db,
  countSealed: (texts: number) => Promise<void>,
): Promise<Projector> {
  const clock = systemClock
  let waiting = await waitingEvents(db)
  let appendedAt = Number.NEGATIVE_INFINITY
  let links: Links | undefined
  let working: Promise<boolean> | undefined
  let ticker: Ticker | undefined
  let stuck = { position: -1, failures: 0 }
  /** Nobody behind them waits for these. Another node, another key or the next start may have better luck with them. */
  const passedOver = new Set<number>()

  /** Groups are linked one after the other. False when there is none. */
  const projectOne = async (): Promise<boolean> => {
    const entry = await oldestEntry(db, [...passedOver])
    if (entry === undefined) {
      waiting = 0
      return false
    }
    const { position, events, batch } = entry
    if (batch === undefined || (stuck.position === position && stuck.failures >= MAX_FAILURES)) {
      passedOver.add(position)
      waiting = Math.max(0, waiting - events)
      return true
    }
    try {
      const sealed = sealGroup(db.secrets, batch, [], [])
      // While a group is under way nobody knows whether it will have been written; if it fails, a new chain begins.
      const current = links ?? (await openChain(db))
      links = undefined
      await db.byHand.writeGroup({ ...sealed, links: current, entry: position })
      links = current
    } catch (thrown) {
      // A database that cannot take it now says nothing about the entry.
      if (codeOf(thrown) !== 'store.unavailable')
        stuck = { position, failures: stuck.position === position ? stuck.failures + 1 : 1 }
      throw thrown
    }
    waiting = Math.max(0, waiting - events)
    await countSealed(2 * events).catch(() => {})
    return true
  }
  const next = (): Promise<boolean> => {
    working ??= projectOne().finally(() => {
      working = undefined
    })
    return working
  }

  const isQuiet = () => clock.elapsed() - appendedAt >= QUIET_MS
  const look = async () => {
    while (isQuiet() && (await next())) await nextTurn()
    if (waiting === 0) rest()
  }
  const rest = () => {
    ticker?.stop()
    ticker = undefined
  }
  const watch = () => {
    if (ticker !== undefined) return
    let isLooking = false
    ticker = clock.every(LOOK_MS, () => {
      if (isLooking) return
      isLooking = true
      // What fails now is tried again at the next look, or told to whoever reads.
      look()
        .catch(() => {})
        .finally(() => {
          isLooking = false
        })
    })
    ticker.hold(false)
  }
  if (waiting > 0) watch()

  return {
    async appended(events) {
      if (events === 0) return
      waiting += events
      appendedAt = clock.elapsed()
      watch()
      if (waiting > MAX_WAITING) await next()
    },
    async settle(limitMs = Number.POSITIVE_INFINITY) {
      const until = clock.elapsed() + limitMs
      // What is under way may have looked before the last group was appended.
      await working?.catch(() => {})
      // Other nodes append as well, so the journal is asked and not our own count. What fails for ever is passed over; if the
      // database is gone, the reading that follows will say so.
      for (let failures = 0; failures <= MAX_FAILURES && clock.elapsed() <= until; ) {
        const went = await next().catch(givenUp)
        if (went === false) return
        failures = went === 'failed' ? failures + 1 : 0
        await nextTurn()
      }
    },
    stuckAt: async () => (await stillWaiting(db, [...passedOver]))[0],
    async stop() {
      rest()
      await working?.catch(() => {})
    },
  }
}
