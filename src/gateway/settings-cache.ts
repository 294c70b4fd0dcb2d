import type { Store } from '../store/store.ts'
import { MASTER_TENANT } from '../store/stores/tenant-store.ts'
import {
  defaultSettings,
  type Settings,
  type SettingsInForce,
  type SettingValues,
  settingsSchema,
} from './settings.ts'

/** Settings in memory. Those of a tenant are read with its snapshot, so a dispatch never asks the store for them. */
export async function cacheSettings(
  store: Pick<Store, 'readSettings'>,
  fromFile: SettingValues,
): Promise<Settings> {
  const stored = new Map<string, SettingValues>()
  /** Merged once, because every dispatch looks. */
  const merged = new Map<string, SettingsInForce>()
  let common: SettingsInForce = { ...defaultSettings, ...fromFile }

  const reload = async (tenant: string) => {
    const read = settingsSchema.safeParse(await store.readSettings(tenant))
    // Written by us and checked then; what a newer version added is not for us.
    const own = read.success ? read.data : {}
    if (tenant === MASTER_TENANT) {
      common = { ...defaultSettings, ...fromFile, ...own }
      for (const [name, values] of stored) merged.set(name, inForce(common, values))
      return
    }
    stored.set(tenant, own)
    merged.set(tenant, inForce(common, own))
  }
  await reload(MASTER_TENANT)
  return { of: (tenant) => merged.get(tenant) ?? common, reload }
}

/** A tenant may ask for a stricter audit than the gateway, and for no looser one. Rows are pruned for all at once. */
function inForce(common: SettingsInForce, { retention_days: _, ...own }: SettingValues): SettingsInForce {
  return { ...common, ...own, ...(common.audit === 'strict' ? { audit: 'strict' } : {}) }
}
