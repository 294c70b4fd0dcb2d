import { errorText } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import { rerun } from '../../engine/core/time/rerun.ts'
import type { StatusPart } from '../../methods/status-part.ts'
import type { Store } from '../../store/store.ts'
import type { Snapshots } from './snapshots.ts'

const POLL_MS = 1_000
/** Without a poll for this long, this node may enforce outdated hooks. */
const STALE_MS = 10_000

/**
 * Follows the changes of other nodes. Notifications make it fast, the poll makes it reliable. Resolves when the current version
 * is known. Load nothing before.
 */
export async function followDefinitions(options: {
  readonly store: Pick<Store, 'definitionChanges' | 'onHint'>
  readonly snapshots: Pick<Snapshots, 'refresh'>
  readonly clock: Clock
  readonly log: Log
}): Promise<{ readonly status: StatusPart; stop(): void }> {
  const { store, snapshots, clock, log } = options
  let { cursor } = await store.definitionChanges()
  let confirmedAt = clock.elapsed()
  let failure = ''

  const check = rerun(async () => {
    try {
      const found = await store.definitionChanges(cursor)
      for (const { tenant, version } of found.changed) await snapshots.refresh(tenant, version)
      // Only after loading, so that a failed load is repeated.
      cursor = found.cursor
      confirmedAt = clock.elapsed()
      failure = ''
    } catch (thrown) {
      if (failure === '') log('gateway.definitions_unconfirmed', { error: errorText(thrown) })
      failure = errorText(thrown)
    }
  })
  const ticker = clock.every(POLL_MS, check)
  ticker.hold(false)
  const unhint = store.onHint(check)

  return {
    status: () => {
      const age = Math.round(clock.elapsed() - confirmedAt)
      if (age < STALE_MS) return { name: 'definitions', state: 'ok', text: `confirmed ${age} ms ago` }
      return {
        name: 'definitions',
        state: 'bad',
        text: `not confirmed for ${Math.round(age / 1000)} s: ${failure || 'the store does not answer'}`,
      }
    },
    stop() {
      ticker.stop()
      unhint()
    },
  }
}
