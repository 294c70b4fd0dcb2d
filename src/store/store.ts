import type { AuditStore } from './stores/audit-store.ts'
import type { DeliveryStore } from './stores/delivery-store.ts'
import type { GuardStore } from './stores/guard-store.ts'
import type { HookStore } from './stores/hook-store.ts'
import type { TenantStore } from './stores/tenant-store.ts'
import type { VaultStore } from './stores/vault-store.ts'

/**
 * Everything durable. Each method is one atomic operation with plain data in and out, so that it can run in another thread
 * or be retried; there is no transaction to hold open. A method that cannot do its work rejects with a coded error:
 * `store.unavailable` for anything the database could not take now.
 */
export interface Store extends HookStore, AuditStore, DeliveryStore, GuardStore, TenantStore, VaultStore {
  readonly dialect: 'sqlite' | 'postgres'
  /** Resolves when the database answers. */
  ping(): Promise<void>
  /** Calls back when another node may have changed definitions; a hint that may be lost. Undo with the answer. */
  onHint(listener: () => void): () => void
  close(): Promise<void>
}
