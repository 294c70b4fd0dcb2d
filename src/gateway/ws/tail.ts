import { errorText } from '../../engine/core/error.ts'
import type { ExecutionRow } from '../../store/stores/audit-store.ts'
import type { GatewayParts } from '../parts.ts'

export interface Tail {
  stop(): void
}

export interface TailOptions {
  readonly tenant: string
  /** Where to go on from. */
  readonly cursor: string
  readonly parts: Pick<GatewayParts, 'store' | 'clock' | 'log' | 'onRecorded'>
  readonly send: (row: ExecutionRow, cursor: string) => void
}

/** What is written on another node gives no hint here. */
const LOOK_MS = 1_000
const PAGE = 100

/**
 * Sends executions as they are recorded. All but the last of a page carry the cursor the page began with: whoever goes
 * on from there gets some of them twice and none never.
 */
export function startTail({ tenant, parts, send, ...from }: TailOptions): Tail {
  const { store, clock, log, onRecorded } = parts
  let cursor = from.cursor
  let stopped = false
  let looking = false
  let again = false

  async function page(): Promise<boolean> {
    const { rows, nextCursor } = await store.tail(tenant, cursor, PAGE)
    if (stopped) return false
    const before = cursor
    if (nextCursor !== '') cursor = nextCursor
    rows.forEach((row, index) => {
      if (!stopped) send(row, index === rows.length - 1 ? cursor : before)
    })
    return rows.length === PAGE
  }

  async function look(): Promise<void> {
    again = true
    if (looking) return
    looking = true
    try {
      while (again && !stopped) {
        again = false
        while (await page());
      }
    } catch (thrown) {
      // The next look goes on from the same place.
      log('gateway.tail_failed', { tenant, error: errorText(thrown) })
    } finally {
      looking = false
    }
  }

  const undo = onRecorded(() => void look())
  const ticker = clock.every(LOOK_MS, () => void look())
  void look()
  return {
    stop() {
      stopped = true
      undo()
      ticker.stop()
    },
  }
}
