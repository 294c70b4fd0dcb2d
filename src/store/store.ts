import type { MethodsOf } from '../database/operation.ts'
import type { operations } from './operations.ts'

/** The operations as methods. */
export type StoreMethods = MethodsOf<typeof operations>

/**
 * Everything durable. Each method is one atomic operation with plain data in and out, so that it can run in another thread
 * or be retried; no caller holds a transaction open. Methods reject with a coded error: `store.unavailable` if the database
 * cannot do it now.
 */
export interface Store extends Omit<StoreMethods, 'recordBytes'> {
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
