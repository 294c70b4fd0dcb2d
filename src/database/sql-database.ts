import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ClaimedDelivery, ClaimRequest, DeliveryEnd } from '../deliveries/delivery-table.ts'
import { isHookError } from '../engine/core/errors/error.ts'
import type { ExecutionRow } from '../history/audit-tables.ts'
import type { AppendedGroup, AuditGroup } from '../history/stored/audit-group.ts'
import type { EventSummary } from '../history/view-tables.ts'
import type { TakeRunRequest } from '../runs/stored/run-tables.ts'
import type { Secrets } from '../safe/secrets/secret.ts'
import type { Tables } from '../store/kysely-tables.ts'
import type { DefinitionChanges } from '../stored-hooks/hook-tables.ts'
import type { Page } from './page-cursor.ts'
import type { RowCodec, StoredRow, ValueCodec } from './row-codec.ts'
import type { Table } from './table.ts'

export type QueryBuilder = Kysely<Tables>

/** What the store methods need from a dialect. Only the store uses it. */
export interface SqlDatabase {
  readonly dialect: 'sqlite' | 'postgres'
  readonly codec: Codec
  readonly secrets: Secrets
  readonly statements: DialectStatements
  /** How the rows of a table are written and read. */
  rows(table: Table): RowCodec
  /** Runs one transaction of one tenant. Statements filter by tenant; on PostgreSQL row-level security enforces it too. */
  tenant<T>(tenantId: string, work: (trx: QueryBuilder) => Promise<T>): Promise<T>
  /** Runs one transaction across tenants: token lookup, snapshots, deliveries, recording, retention, verification. */
  system<T>(work: (trx: QueryBuilder) => Promise<T>): Promise<T>
  /** The same for work that only reads: it waits for no writer. */
  reading<T>(work: (trx: QueryBuilder) => Promise<T>): Promise<T>
}

/** How a dialect writes values and the expressions that it has for times. */
export interface Codec extends ValueCodec {
  /** A column in a filter that must not choose the index: SQLite has no statistics to choose by. */
  unindexed(column: string): RawBuilder<unknown>
  /** The given time, or the clock of the store. */
  now(given: number | undefined): RawBuilder<number>
  /** The stamp of a definition change in this transaction. */
  readonly stamp: RawBuilder<number>
}

/** The statements that run with every dispatch or need their own locking. Each dialect writes them in plain SQL. */
export interface DialectStatements {
  tail(tenant: string, cursor: string | undefined, limit: number): Promise<Page<ExecutionRow>>
  tailEvents(
    tenant: string,
    cursor: string | undefined,
    options: { readonly limit: number; readonly probes: boolean },
  ): Promise<Page<EventSummary>>
  claimDeliveries(claim: ClaimRequest): Promise<readonly ClaimedDelivery[]>
  endDeliveries(ends: readonly DeliveryEnd[], now?: number): Promise<readonly string[]>
  definitionChanges(cursor?: string): Promise<DefinitionChanges>
  /**
   * Writes the rows of a group in one transaction. Existing keys stay as they are, and only inserted executions join
   * `group.chain`. Calls never overlap.
   */
  writeGroup(group: AuditGroup): Promise<void>
  /** Appends a journal entry with its deliveries and answers, in one transaction. */
  appendGroup(group: AppendedGroup): Promise<void>
  /** Takes the oldest fitting run, as the operation `takeRun` describes. */
  takeRun(request: TakeRunRequest & { readonly lease: string }): Promise<StoredRow | undefined>
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
