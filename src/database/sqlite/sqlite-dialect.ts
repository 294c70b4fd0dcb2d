import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import { systemClock } from '../../engine/core/time/clock.ts'
import type { SchemaDialect } from '../schema-statements.ts'
import type { Codec } from '../sql-database.ts'

/** How many prepared statements to keep; the store has few distinct ones. */
const MAX_STATEMENTS = 200

/** Kysely on a `node:sqlite` connection, which the prepared statements share. */
export function sqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => sqliteDriver(database),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** SQLite rolls back schema changes too. Kysely's adapter denies that, which would leave half a migration behind. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true
  }
}

function sqliteDriver(database: DatabaseSync): Driver {
  const connection = sqliteConnection(database)
  const run = async (text: string) => {
    await connection.executeQuery(CompiledQuery.raw(text))
  }
  return {
    init: async () => {},
    acquireConnection: async () => connection,
    // Takes the write lock at once: a transaction that upgrades later cannot wait for it.
    beginTransaction: (_, { accessMode }) => run(accessMode === 'read only' ? 'begin' : 'begin immediate'),
    commitTransaction: () => run('commit'),
    // After some failures SQLite has already rolled back.
    rollbackTransaction: async () => {
      if (database.isTransaction) await run('rollback')
    },
    releaseConnection: async () => {},
    destroy: async () => {},
  }
}

function sqliteConnection(database: DatabaseSync): DatabaseConnection {
  const statements = new Map<string, StatementSync>()
  const prepared = (text: string) => {
    const known = statements.get(text)
    if (known !== undefined) return known
    const statement = database.prepare(text)
    const oldest = statements.keys().next().value
    if (statements.size >= MAX_STATEMENTS && oldest !== undefined) statements.delete(oldest)
    statements.set(text, statement)
    return statement
  }
  return {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const statement = prepared(sql)
      // Kysely passes only values that our table types allow.
      const values = parameters as readonly SQLInputValue[]
      if (statement.columns().length > 0) return { rows: statement.all(...values) as Row[] }
      const { changes } = statement.run(...values)
      return { rows: [], numAffectedRows: BigInt(changes) }
    },
    // biome-ignore lint/correctness/useYield: the store never streams
    async *streamQuery() {
      throw new TypeError('the SQLite store reads in pages')
    },
  }
}

export const sqliteCodec: Codec = {
  json: (value) => JSON.stringify(value),
  readJson: (stored) => (typeof stored === 'string' ? JSON.parse(stored) : stored),
  flag: (value) => (value ? 1 : 0),
  list: (ids) => JSON.stringify(ids),
  readList(stored) {
    const list: unknown = typeof stored === 'string' ? JSON.parse(stored) : []
    return Array.isArray(list) ? list.map(String) : []
  },
  unindexed: (column) => sql`+${sql.ref(column)}`,
  now: (given) => sql`${given ?? systemClock.now()}`,
  // Only one process writes, so a counter is enough.
  stamp: sql`(select coalesce(max(stamp), 0) + 1 from definition_versions)`,
}

export const sqliteSchema: SchemaDialect = {
  types: {
    ...{ id: 'text', text: 'text', number: 'integer', real: 'real', flag: 'integer', json: 'text' },
    ...{ list: 'text', bytes: 'blob', position: 'integer primary key autoincrement' },
  },
  true: '1',
  keyed: 'without rowid',
  more: () => [],
}
