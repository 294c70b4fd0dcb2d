import { MASTER_TENANT } from '../../../access/tenant-tables.ts'
import { LEASE_MS, LONGEST_RETRY_MS } from '../../../deliveries/delivery-worker.ts'
import { errorText } from '../../../engine/core/errors/error.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import type { Clock } from '../../../engine/core/time/clock.ts'
import { KEPT_ANSWER_MS } from '../../../pipeline/once-per-key.ts'
import type { Settings } from '../../../settings/settings.ts'
import type { Store } from '../../../store/store.ts'
import type { KeyUses } from './encryption-keys.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const longestWindows = {
  lease_ms: LEASE_MS,
  retry_ms: LONGEST_RETRY_MS,
  answer_ms: KEPT_ANSWER_MS,
  guard_ms: DAY_MS,
}

interface MaintenanceParts {
  readonly store: Pick<Store, 'prune' | 'clampWindows'>
  readonly settings: Settings
  readonly keyUses: KeyUses
  readonly clock: Clock
  readonly log: Log
}

/** Once an hour, shortens windows from a clock that was ahead, deletes expired rows, and saves how often each key was used. */
export function startMaintenance({ store, settings, keyUses, clock, log }: MaintenanceParts): {
  stop(): void
} {
  const clamp = () =>
    store.clampWindows(longestWindows).then(
      (windows) => {
        if (windows > 0) log('gateway.clock_was_ahead', { windows })
      },
      (thrown) => log('gateway.prune_failed', { error: errorText(thrown) }),
    )
  const prune = () => {
    const { retention_days } = settings.of(MASTER_TENANT)
    store.prune({ keep_executions_ms: retention_days * DAY_MS, keep_deliveries_ms: DAY_MS }).then(
      (rows) => {
        if (rows > 0) log('gateway.pruned', { rows })
      },
      (thrown) => log('gateway.prune_failed', { error: errorText(thrown) }),
    )
  }
  // The clock may have been set back while no gateway ran.
  void clamp()
  const ticker = clock.every(HOUR_MS, () => {
    void clamp()
    prune()
    keyUses.save().catch((thrown) => log('gateway.key_uses_failed', { error: errorText(thrown) }))
  })
  ticker.hold(false)
  return { stop: () => ticker.stop() }
}
