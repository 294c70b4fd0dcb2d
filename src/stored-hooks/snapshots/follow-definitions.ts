import { errorText } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import type { Clock } from '../../engine/core/values/clock.ts'
import type { StatusPart } from '../../methods/status-part.ts'
import type { Store } from '../../store/store.ts'
import type { Snapshots } from './snapshots.ts'

const POLL_MS = 1_000
/** Without a poll for this long, this node may enforce outdated hooks. */
const STALE_MS = 10_000

/** Follows the changes of other nodes. Notifications make it fast, the poll makes it reliable. */
export interface DefinitionFollower {
  /** Polls now. Resolves when all changes are in use. */
  check(): Promise<void>
  isFresh(): boolean
  readonly status: StatusPart
  stop(): void
}

/** Resolves when the current version is known. Load nothing before. */
export async function followDefinitions(options: {
  readonly store: Pick<Store, 'definitionChanges' | 'onHint'>
  readonly snapshots: Pick<Snapshots, 'refresh'>
  readonly clock: Clock
  readonly log: Log
}): Promise<DefinitionFollower> {
  const { store, snapshots, clock, log } = options
  let { cursor } = await store.definitionChanges()
  let confirmedAt = clock.elapsed()
  let checking: Promise<void> | undefined
  let again = false
  let failure = ''

  const once = async () => {
    const found = await store.definitionChanges(cursor)
    for (const { tenant, version } of found.changed) await snapshots.refresh(tenant, version)
    // Only after loading, so that a failed load is repeated.
    cursor = found.cursor
    confirmedAt = clock.elapsed()
    failure = ''
  }
  const check = async (): Promise<void> => {
    if (checking !== undefined) {
      again = true
      return checking
    }
    checking = once().finally(() => {
      checking = undefined
    })
    await checking
    if (again) {
      again = false
      await check()
    }
  }
  const quietly = () => {
    check().catch((thrown) => {
      if (failure === '') log('gateway.definitions_unconfirmed', { error: errorText(thrown) })
      failure = errorText(thrown)
    })
  }
  const ticker = clock.every(POLL_MS, quietly)
  ticker.hold(false)
  const unhint = store.onHint(quietly)
  const isFresh = () => clock.elapsed() - confirmedAt < STALE_MS

  return {
    check,
    isFresh,
    status: () => {
      const age = Math.round(clock.elapsed() - confirmedAt)
      if (isFresh()) return { name: 'definitions', state: 'ok', text: `confirmed ${age} ms ago` }
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
