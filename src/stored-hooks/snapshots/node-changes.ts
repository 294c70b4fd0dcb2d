import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { createListeners } from '../../engine/core/values/listeners.ts'

/** What this node changed or noticed, for subscribers that should not wait for the next poll. */
export interface NodeChanges {
  /**
   * How often this node took other hooks of a tenant into use. The marks of the store do not show it: hook files are not in the
   * store, and a stored hook is in the store before this node uses it.
   */
  hookLoads(tenant: string): number
  /** Calls the listener after each change; returns its undo. */
  on(listener: () => void): () => void
  notify(): void
  /** Without a tenant: hooks of any tenant. */
  notifyHookLoad(tenant?: string): void
}

export function createNodeChanges(): NodeChanges {
  const { on, notify } = createListeners()
  const loads = new Map<string, number>()
  const loadsOf = (tenant: string) => loads.get(tenant) ?? 0
  return {
    hookLoads: (tenant) => loadsOf(tenant) + loadsOf(MASTER_TENANT),
    on,
    notify,
    notifyHookLoad(tenant = MASTER_TENANT) {
      loads.set(tenant, loadsOf(tenant) + 1)
      void notify()
    },
  }
}
