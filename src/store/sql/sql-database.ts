import { type Kysely, type RawBuilder, sql } from 'kysely'
import { isHookError } from '../../engine/core/error.ts'
import type { Secrets } from '../../safe/secret.ts'
import type { AuditStore } from '../stores/audit-store.ts'
import type { DeliveryStore } from '../stores/delivery-store.ts'
import type { GuardStore } from '../stores/guard-store.ts'
import type { RunStore } from '../stores/run-store.ts'
import type { TenantStore } from '../stores/tenant-store.ts'
import type { ViewStore } from '../stores/view-store.ts'
import type { AppendedGroup, AuditGroup } from './audit/audit-group.ts'
import type { StoredRun } from './runs/run-row.ts'
import type { Tables } from './tables.ts'

export type QueryBuilder = Kysely<Tables>

/** What the store methods need from a dialect. Only the store uses it. */
export interface SqlDatabase {
  readonly dialect: 'sqlite' | 'postgres'
  readonly codec: Codec
  readonly secrets: Secrets
  readonly statements: DialectStatements
  /** Runs one transaction of one tenant. Statements filter by tenant; on PostgreSQL row-level security enforces it too. */
  tenant<T>(tenantId: string, work: (trx: QueryBuilder) => Promise<T>): Promise<T>
  /** Runs one transaction across tenants: token lookup, snapshots, deliveries, recording, retention, verification. */
  system<T>(work: (trx: QueryBuilder) => Promise<T>): Promise<T>
}

/** How a dialect writes and reads column values. Flags need no reading: `Boolean` reads both dialects. */
export interface Codec {
  /** Converts a value of a JSON column to a parameter. */
  json(value: unknown): unknown
  readJson(stored: unknown): unknown
  flag(value: boolean): unknown
  /** Converts agent ids to a parameter: an array on PostgreSQL, JSON on SQLite. */
  list(ids: readonly string[]): unknown
  readList(stored: unknown): readonly string[]
  /** A column in a filter that must not choose the index: SQLite has no statistics to choose by. */
  unindexed(column: string): RawBuilder<unknown>
  /** The given time, or the clock of the store. */
  now(given: number | undefined): RawBuilder<number>
  /** The stamp of a definition change in this transaction. */
  readonly stamp: RawBuilder<number>
  /** All changes with a lower stamp are visible now, and no later change gets a lower one. */
  readonly horizon: RawBuilder<number>
}

/** The statements that run with every dispatch or need their own locking. Each dialect writes them in plain SQL. */
export interface DialectStatements
  extends Pick<AuditStore, 'tail'>,
    Pick<ViewStore, 'tailEvents'>,
    Pick<DeliveryStore, 'claimDeliveries' | 'endDeliveries'>,
    Pick<GuardStore, 'takeGuards'>,
    Pick<TenantStore, 'findToken'> {
  /**
   * Writes the rows of a group in one transaction. Existing keys stay as they are, and only inserted executions join
   * `group.chain`. Calls never overlap.
   */
  writeGroup(group: AuditGroup): Promise<void>
  /** Appends a journal entry with its deliveries and answers, in one transaction. */
  appendGroup(group: AppendedGroup): Promise<void>
  /** Takes the oldest fitting run, as `RunStore.takeRun` describes. */
  takeRun(
    request: Parameters<RunStore['takeRun']>[0] & { readonly lease: string },
  ): Promise<StoredRun | undefined>
}

/** The given time, or the clock of the store, in milliseconds since 1970. */
export async function readNow(
  trx: QueryBuilder,
  { codec }: Pick<SqlDatabase, 'codec'>,
  given: number | undefined,
): Promise<number> {
  if (given !== undefined) return given
  const { rows } = await sql<{ now: number }>`select ${codec.now(undefined)} as now`.execute(trx)
  return Number(rows[0]?.now)
}

/** Whether a statement failed because the name or key already exists. */
export function isUniqueViolation(thrown: unknown): boolean {
  return isHookError(thrown) && thrown.code === 'store.taken'
}
