import type { Clock } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { Settings } from '../../gateway/settings.ts'
import type { Store } from '../../store/store.ts'
import { MASTER_TENANT } from '../../store/stores/tenant-store.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

interface UpkeepParts {
  readonly store: Pick<Store, 'prune'>
  readonly settings: Settings
  readonly uses: { keep(): Promise<void> }
  readonly clock: Clock
  readonly log: Log
}

/** Removes each hour what is older than it should be kept. */
export function startUpkeep({ store, settings, uses, clock, log }: UpkeepParts): { stop(): void } {
  const prune = () => {
    const now = clock.now()
    const { retention_days } = settings.of(MASTER_TENANT)
    store
      .prune({
        executions_before: now - retention_days * DAY_MS,
        answers_before: now,
        guards_before: now,
        deliveries_before: now - DAY_MS,
      })
      .then(
        (rows) => {
          if (rows > 0) log('gateway.pruned', { rows })
        },
        (thrown) => log('gateway.prune_failed', { error: errorText(thrown) }),
      )
  }
  const ticker = clock.every(HOUR_MS, () => {
    prune()
    uses.keep().catch((thrown) => log('gateway.key_uses_failed', { error: errorText(thrown) }))
  })
  ticker.hold(false)
  return { stop: () => ticker.stop() }
}
