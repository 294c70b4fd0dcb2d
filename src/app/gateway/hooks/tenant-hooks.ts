import { errorText } from '../../../engine/core/errors/error.ts'
import type { GuardRequest } from '../../../engine/core/guard-state.ts'
import type { Handler, Host } from '../../../engine/core/handler.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import type { Clock } from '../../../engine/core/time/clock.ts'
import { createHooks, type Hooks } from '../../../engine/dispatch/hooks.ts'
import { guardKey } from '../../../engine/guard/guard.ts'
import type { HookDefinition } from '../../../engine/hook-definition.ts'
import { lazyAnalyzeShell } from '../../../load-shell.ts'
import type { Settings } from '../../../settings/settings.ts'
import type { Store } from '../../../store/store.ts'
import { localShell } from '../../local-shell.ts'

interface TenantHooksParts {
  readonly store: Pick<Store, 'takeGuards' | 'tripHook'>
  readonly handlers: readonly Handler[]
  readonly host: Host
  readonly settings: Settings
  /** A hook of this tenant was switched off in the store. */
  changed(tenant: string): Promise<unknown>
  readonly clock: Clock
  readonly log: Log
}

/** The set of hooks of one tenant: what its guards remember and its breaker decides is kept in the store. */
export function tenantHooks(
  parts: TenantHooksParts,
): (tenant: string, placeOf: PlaceOf, isLocal: boolean) => Hooks {
  const { store, handlers, host, settings, clock, log } = parts
  return (tenant, placeOf, isLocal) => {
    const keepTrip = async ({ id: hook = '', tripped_by = 'error' }: HookDefinition) => {
      try {
        await store.tripHook(tenant, hook, tripped_by, clock.now())
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
      // The paths of an event from another machine are not those of this one.
      shell: isLocal ? localShell : lazyAnalyzeShell,
      guards: {
        take: (requests) =>
          store.takeGuards(
            tenant,
            requests.map((request) => inItsPlace(request, placeOf)),
          ),
      },
      breaker: settings.of(tenant).breaker ?? {},
      tripped: (hook) => void keepTrip(hook),
      log: (name, fields) => log(name, { tenant, ...fields }),
    })
  }
}

type PlaceOf = (hook: string) => string | undefined

/** Hooks of files are called alike in many repositories, and each remembers for itself. */
function inItsPlace(request: GuardRequest, placeOf: PlaceOf): GuardRequest {
  if (request.kind !== 'cooldown' && request.kind !== 'dedup') return request
  const [tenant = '', hook = '', ...rest]: readonly string[] = JSON.parse(request.key)
  const place = placeOf(hook)
  return place === undefined ? request : { ...request, key: guardKey(tenant, hook, ...rest, place) }
}
