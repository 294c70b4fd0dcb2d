import { LRUCache } from 'lru-cache'
import { MASTER_TENANT, type TenantStore } from '../../../access/tenant-tables.ts'
import { providerKeyPath } from '../../../database/sealed-paths.ts'
import type { Clock } from '../../../engine/core/time/clock.ts'
import type { Fetch, ProviderSettings } from '../../../handlers/model/language-model.ts'
import type { Provider } from '../../../handlers/model/model-name.ts'
import { createModels, type Models, type ModelsOptions } from '../../../handlers/model/models.ts'
import type { Secrets } from '../../../safe/secrets/secret.ts'
import type { ProviderRow } from '../../../secrets/secret-tables.ts'
import type { Settings } from '../../../settings/settings.ts'
import type { Store } from '../../../store/store.ts'

interface TenantModelsParts {
  readonly store: Pick<Store, 'listProviders'> & Partial<TenantStore>
  readonly secrets: Secrets
  readonly settings: Settings
  readonly fetch: Fetch
  /** The providers that the environment of the gateway configures for every tenant. */
  readonly local: Omit<ModelsOptions, 'fetch'>
  readonly clock: Clock
}

const MAX_TENANTS = 1_000
/** Other nodes see a changed provider after at most this time. */
const KEPT_MS = 5_000

export interface TenantModels extends Models {
  /** Drops the cached models of a tenant; with the master tenant, those of every tenant. */
  forget(tenant: string): void
}

/** Finds models per tenant: its own providers first, then the master tenant's, then the environment's. */
export function tenantModels(parts: TenantModelsParts): TenantModels {
  const { store, settings, fetch, local, clock } = parts
  const cache = new LRUCache<string, Promise<Models>>({
    max: MAX_TENANTS,
    ttl: KEPT_MS,
    ttlResolution: 0,
    perf: { now: () => clock.elapsed() + 1 },
  })
  const make = async (tenant: string): Promise<Models> => {
    const rows = [
      ...(await store.listProviders(MASTER_TENANT)),
      ...(tenant === MASTER_TENANT ? [] : await store.listProviders(tenant)),
    ]
    const own = Object.fromEntries(rows.map((row) => [row.name, toSettings(row, parts.secrets)]))
    const byDefault =
      settings.of(tenant).default_model ??
      rows.findLast((row) => row.default_model !== null)?.default_model ??
      local.default
    return createModels({
      ...local,
      fetch,
      providers: { ...local.providers, ...(own as Partial<Record<Provider, ProviderSettings>>) },
      ...(byDefault === undefined || byDefault === null ? {} : { default: byDefault }),
      aliases: { ...local.aliases, ...settings.of(tenant).model_aliases },
    })
  }
  return {
    async find(name, tenant = MASTER_TENANT) {
      const known = cache.get(tenant) ?? make(tenant)
      cache.set(tenant, known)
      known.catch(() => cache.delete(tenant))
      return (await known).find(name, tenant)
    },
    forget(tenant) {
      if (tenant === MASTER_TENANT) cache.clear()
      else cache.delete(tenant)
    },
  }
}

function toSettings(
  { tenant_id, name, base_url, sealed_key }: ProviderRow,
  secrets: Secrets,
): ProviderSettings {
  return {
    ...(base_url === null ? {} : { baseUrl: base_url }),
    ...(sealed_key === null ? {} : { apiKey: secrets.decrypt(sealed_key, providerKeyPath(tenant_id, name)) }),
  }
}
