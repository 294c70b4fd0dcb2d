import type { Kysely, RawBuilder } from 'kysely'
import { isHookError } from '../../engine/core/error.ts'
import type { Secrets } from '../../safe/secret.ts'
import type { AuditStore } from '../stores/audit-store.ts'
import type { DeliveryStore } from '../stores/delivery-store.ts'
import type { GuardStore } from '../stores/guard-store.ts'
import type { TenantStore } from '../stores/tenant-store.ts'
import type { AppendedGroup, AuditGroup } from './audit/audit-group.ts'
import type { Tables } from './tables.ts'

export type Query = Kysely<Tables>

/** What the methods under `sql` are written against. Nothing outside of the store sees it. */
export interface Db {
  readonly dialect: 'sqlite' | 'postgres'
  readonly codec: Codec
  readonly secrets: Secrets
  readonly byHand: ByHand
  /** One transaction of one tenant. Its statements name the tenant all the same; row-level security is the second lock. */
  tenant<T>(tenantId: string, work: (trx: Query) => Promise<T>): Promise<T>
  /** One transaction across tenants: token lookup, snapshots, deliveries, recording, retention, verification. */
  system<T>(work: (trx: Query) => Promise<T>): Promise<T>
}

/** What the two dialects write and read differently. Flags need no reading: `Boolean` reads both. */
export interface Codec {
  /** A value of a JSON column, as a parameter. */
  json(value: unknown): unknown
  readJson(stored: unknown): unknown
  flag(value: boolean): unknown
  /** The ids of agents, as a parameter: an array on PostgreSQL, JSON on SQLite. */
  list(ids: readonly string[]): unknown
  readList(stored: unknown): readonly string[]
  /** A column in a filter that must not pick the index: SQLite has no statistics to choose by. */
  aside(column: string): RawBuilder<unknown>
  /** What a definition change of this transaction is stamped with. */
  readonly stamp: RawBuilder<number>
  /** All changes stamped below it can be seen now, and none will be stamped below it later. */
  readonly horizon: RawBuilder<number>
}

/** What runs with every dispatch or needs a lock of its own: each dialect writes these statements by hand. */
export interface ByHand
  extends Pick<AuditStore, 'tail'>,
    Pick<DeliveryStore, 'claimDeliveries' | 'endDeliveries'>,
    Pick<GuardStore, 'takeGuards'>,
    Pick<TenantStore, 'findToken'> {
  /**
   * Writes a group in one transaction. Keys that are there already are left as they are; only executions that were really
   * inserted are linked (`group.links`). Calls never overlap.
   */
  writeGroup(group: AuditGroup): Promise<void>
  /** In one transaction. */
  appendGroup(group: AppendedGroup): Promise<void>
}

/** Whether a statement failed because a name or key is there already. */
export function isTaken(thrown: unknown): boolean {
  return isHookError(thrown) && thrown.code === 'store.taken'
}
