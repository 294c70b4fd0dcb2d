import type { Clock } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
import type { Handler, Host } from '../../engine/core/handler.ts'
import type { Log, Sink } from '../../engine/core/sink.ts'
import { createHooks, type Hooks } from '../../engine/dispatch/hooks.ts'
import type { Settings } from '../../gateway/settings.ts'
import type { Store } from '../../store/store.ts'

interface TenantHooksParts {
  readonly store: Pick<Store, 'takeGuards' | 'tripHook'>
  readonly handlers: readonly Handler[]
  readonly host: Host
  readonly settings: Settings
  readonly sinkOf: (tenant: string) => Sink
  /** A hook of this tenant was switched off in the store. */
  changed(tenant: string): Promise<void>
  readonly clock: Clock
  readonly log: Log
}

/** The set of hooks of one tenant: what its guards remember and its breaker decides is kept in the store. */
export function tenantHooks(parts: TenantHooksParts): (tenant: string) => Hooks {
  const { store, handlers, host, settings, clock, log } = parts
  return (tenant) => {
    const keepTrip = async (hook: string) => {
      try {
        await store.tripHook(tenant, hook, clock.now())
        await parts.changed(tenant)
      } catch (thrown) {
        // It stays off in this process.
        log('security.hook.circuit_breaker_persist_failed', {
          tenant,
          hook_id: hook,
          error: errorText(thrown),
        })
      }
    }
    return createHooks({
      handlers,
      host,
      clock,
      sink: parts.sinkOf(tenant),
      guards: { take: (requests, now) => store.takeGuards(tenant, requests, now) },
      breaker: settings.of(tenant).breaker ?? {},
      tripped: ({ id = '' }) => void keepTrip(id),
      log: (name, fields) => log(name, { tenant, ...fields }),
    })
  }
}
