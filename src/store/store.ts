import type { AgentStore } from './stores/agent-store.ts'
import type { ApprovalStore } from './stores/approval-store.ts'
import type { AuditStore } from './stores/audit-store.ts'
import type { ChangeStore } from './stores/change-store.ts'
import type { DeliveryStore } from './stores/delivery-store.ts'
import type { GuardStore } from './stores/guard-store.ts'
import type { HookStore } from './stores/hook-store.ts'
import type { RuleStore } from './stores/rule-store.ts'
import type { RunStore } from './stores/run-store.ts'
import type { SessionStore } from './stores/session-store.ts'
import type { TenantStore } from './stores/tenant-store.ts'
import type { VaultStore } from './stores/vault-store.ts'
import type { ViewStore } from './stores/view-store.ts'

/**
 * Everything durable. Each method is one atomic operation with plain data in and out, so that it can run in another thread
 * or be retried; no caller holds a transaction open. Methods reject with a coded error: `store.unavailable` if the database
 * cannot do it now.
 */
export interface Store
  extends HookStore,
    AuditStore,
    ViewStore,
    ChangeStore,
    DeliveryStore,
    GuardStore,
    SessionStore,
    TenantStore,
    VaultStore,
    AgentStore,
    RunStore,
    ApprovalStore,
    RuleStore {
  readonly dialect: 'sqlite' | 'postgres'
  /** Resolves when the database answers. */
  ping(): Promise<void>
  /** Calls the listener when another node may have changed definitions. Hints may be lost. Returns a function that unsubscribes. */
  onHint(listener: () => void): () => void
  /**
   * Calls the listener when a run of the tenant is pending, stopping or over, on this node or another; with undefined, a run
   * of any tenant may be. Hints may be lost. Returns a function that unsubscribes. SQLite has one node and gives no hints.
   */
  onRunHint(listener: (tenant: string | undefined) => void): () => void
  /**
   * Calls the listener when an approval was answered or ended on another node; with undefined, any may be. Hints may be lost.
   * Returns a function that unsubscribes.
   */
  onApprovalHint(listener: (approvalId: string | undefined) => void): () => void
  /** Resolves when pending work is written and the connections are closed. */
  close(): Promise<void>
}
