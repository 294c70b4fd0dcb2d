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
import type { Tables } from '../../store/kysely-tables.ts'
import type { SchemaDialect } from '../schema-statements.ts'
import type { Codec, QueryBuilder } from '../sql-database.ts'
import type { Notice } from '../table.ts'
import { postgresStoreError } from './postgres-error.ts'
import { readText, writeJson, writeText } from './stored-text.ts'

const builders = new WeakMap<pg.ClientBase, QueryBuilder>()

/** Kysely on one connection, created once per connection. The pool controls the transactions. */
export function queryBuilderOn(client: pg.ClientBase): QueryBuilder {
  const query = builders.get(client) ?? new Kysely<Tables>({ dialect: clientDialect(client) })
  builders.set(client, query)
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
    // biome-ignore lint/correctness/useYield: the store never streams
    async *streamQuery() {
      throw new TypeError('the PostgreSQL store reads in pages')
    },
  }
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    // Only migrations begin transactions here.
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
    const { rows, rowCount, command } = await client.query(sql, parameters.map(toParameter))
    const changes = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE'
    return changes ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows }
  } catch (error) {
    throw postgresStoreError(error)
  }
}

/** Escapes the texts in a parameter. Every parameter passes here, so no column can be forgotten. */
export function toParameter(value: unknown): unknown {
  if (typeof value === 'string') return writeText(value)
  return Array.isArray(value) ? value.map(toParameter) : value
}

export const postgresSchema: SchemaDialect = {
  types: {
    ...{
      id: 'uuid',
      text: 'text',
      number: 'bigint',
      real: 'double precision',
      flag: 'boolean',
      json: 'jsonb',
    },
    ...{ list: 'text[]', bytes: 'bytea', position: 'bigint generated always as identity primary key' },
  },
  true: 'true',
  keyed: '',
  more: ({ name, byWriter, notice }) => [
    ...(byWriter === undefined
      ? []
      : [
          `alter table ${name} add column written_by xid8 not null default pg_current_xact_id()`,
          `create index ${byWriter} on ${name} (tenant_id, written_by, position)`,
        ]),
    ...(notice === undefined ? [] : announce(name, notice)),
  ],
}

/** The function and the trigger that tell other nodes about a row. */
export function announce(table: string, { name, channel, payload, on, when }: Notice): readonly string[] {
  const condition = when === undefined ? '' : ` when (${when})`
  return [
    `create or replace function ${name}() returns trigger language plpgsql as $$ begin
       perform pg_notify('${channel}', ${payload});
       return null;
     end $$`,
    `create or replace trigger ${name} after ${on} on ${table} for each row${condition} execute function ${name}()`,
  ]
}

/** The clock of the database in milliseconds. Stable within a statement, so that an index serves a comparison with it. */
const DATABASE_NOW = '(extract(epoch from statement_timestamp()) * 1000)::int8'

/** The time in this parameter, or the clock of the database if it is null. */
export function nowOr(parameter: string): string {
  return `coalesce(${parameter}::int8, ${DATABASE_NOW})`
}

export const postgresCodec: Codec = {
  json: writeJson,
  // The connection parses JSON columns by their type.
  readJson: (stored) => stored,
  flag: (value) => value,
  list: (ids) => ids,
  // The connection parses the array, but not the escaped texts in it.
  readList: (stored) => (Array.isArray(stored) ? stored.map((text) => readText(String(text))) : []),
  unindexed: (column) => sql.ref(column),
  now: (given) => (given === undefined ? sql.raw(DATABASE_NOW) : sql`${given}::int8`),
  stamp: sql<number>`pg_current_xact_id()::text::bigint`,
}

/** Rows as the parameters of one `unnest`: one array per column. */
export function columnArrays<Row extends object>(
  rows: readonly Row[],
  columns: readonly (keyof Row)[],
): unknown[] {
  return columns.map((column) => rows.map((row) => toParameter(row[column])))
}
