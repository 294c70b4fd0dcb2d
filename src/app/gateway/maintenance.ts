import type { Clock } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { Settings } from '../../gateway/settings.ts'
import type { Store } from '../../store/store.ts'
import { MASTER_TENANT } from '../../store/stores/tenant-store.ts'
import type { KeyUses } from './encryption-keys.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

interface MaintenanceParts {
  readonly store: Pick<Store, 'prune'>
  readonly settings: Settings
  readonly keyUses: KeyUses
  readonly clock: Clock
  readonly log: Log
}

/** Once an hour, deletes expired rows and saves how often each key was used. */
export function startMaintenance({ store, settings, keyUses, clock, log }: MaintenanceParts): {
  stop(): void
} {
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
    keyUses.save().catch((thrown) => log('gateway.key_uses_failed', { error: errorText(thrown) }))
  })
  ticker.hold(false)
  return { stop: () => ticker.stop() }
}
