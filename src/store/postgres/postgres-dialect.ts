import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely'
import type pg from 'pg'
import type { ColumnTypes } from '../migrations/migration-step.ts'
import type { Codec, Query } from '../sql/sql-database.ts'
import type { Tables } from '../sql/tables.ts'
import { asStoreError } from './postgres-error.ts'
import { writeJson, writeText } from './stored-text.ts'

const known = new WeakMap<pg.ClientBase, Query>()

/** Kysely on one connection. It is made once per connection: the transaction around it is the pool's business. */
export function queryOn(client: pg.ClientBase): Query {
  const query = known.get(client) ?? new Kysely<Tables>({ dialect: clientDialect(client) })
  known.set(client, query)
  return query
}

function clientDialect(client: pg.ClientBase) {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => clientDriver(client),
    createIntrospector: (db: Kysely<never>) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

function clientDriver(client: pg.ClientBase): Driver {
  const connection: DatabaseConnection = {
    executeQuery: (compiled) => execute(client, compiled),
    // biome-ignore lint/correctness/useYield: there is nothing to yield
    async *streamQuery() {
      throw new TypeError('nothing of the store is streamed')
    },
  }
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    // Only migrations begin their own.
    beginTransaction: async () => void (await client.query('begin')),
    commitTransaction: async () => void (await client.query('commit')),
    rollbackTransaction: async () => void (await client.query('rollback')),
    releaseConnection: async () => {},
    destroy: async () => {},
  }
}

async function execute<R>(
  client: pg.ClientBase,
  { sql, parameters }: CompiledQuery,
): Promise<QueryResult<R>> {
  try {
    const { rows, rowCount, command } = await client.query(sql, parameters.map(asParameter))
    const changes = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE'
    return changes ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows }
  } catch (error) {
    throw asStoreError(error)
  }
}

/** Every text goes through here, so that no column can be forgotten. */
export function asParameter(value: unknown): unknown {
  if (typeof value === 'string') return writeText(value)
  return Array.isArray(value) ? value.map(asParameter) : value
}

export const columnTypes: ColumnTypes = {
  id: 'uuid',
  // Of agents, which may have a name where they have no id.
  ids: 'text[]',
  number: 'bigint',
  real: 'double precision',
  json: 'jsonb',
  bytes: 'bytea',
  flag: 'boolean',
  true: 'true',
  keyed: '',
  position: 'bigint generated always as identity primary key',
}

export const codec: Codec = {
  json: writeJson,
  // Read where it arrives, by the type of its column.
  readJson: (stored) => stored,
  flag: (value) => value,
  list: (ids) => ids,
  readList: (stored) => (Array.isArray(stored) ? stored.map(String) : []),
  aside: (column) => sql.ref(column),
  stamp: sql<number>`pg_current_xact_id()::text::bigint`,
  horizon: sql<number>`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`,
}

/** Rows as the parameters of one `unnest`: an array per column. */
export function batch<Row extends object>(rows: readonly Row[], columns: readonly (keyof Row)[]): unknown[] {
  return columns.map((column) => rows.map((row) => asParameter(row[column])))
}
