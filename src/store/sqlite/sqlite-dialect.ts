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
import type { MigrationKit } from '../migrations/migration-step.ts'
import type { Codec } from '../sql/sql-database.ts'

/** The shapes of statements are few; this many are kept prepared. */
const MAX_STATEMENTS = 200

/** kysely on `node:sqlite`, over a connection that others may use too. */
export function sqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => sqliteDriver(database),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** SQLite takes back a half-made schema like anything else; the stock adapter denies it and leaves half a migration behind. */
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
    // Takes the lock at once: one that is taken only at the first write cannot wait for it.
    beginTransaction: () => run('begin immediate'),
    commitTransaction: () => run('commit'),
    // After some failures SQLite has rolled back by itself.
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
      // kysely hands over what our own types let through.
      const values = parameters as readonly SQLInputValue[]
      if (statement.columns().length > 0) return { rows: statement.all(...values) as Row[] }
      const { changes } = statement.run(...values)
      return { rows: [], numAffectedRows: BigInt(changes) }
    },
    // biome-ignore lint/correctness/useYield: nothing of ours streams
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
  aside: (column) => sql`+${sql.ref(column)}`,
  // One process writes at a time, so counting is enough.
  stamp: sql`(select coalesce(max(stamp), 0) + 1 from definition_versions)`,
  horizon: sql`(select coalesce(max(stamp), 0) + 1 from definition_versions)`,
}

export const sqliteKit: MigrationKit = {
  types: {
    id: 'text',
    ids: 'text',
    number: 'integer',
    real: 'real',
    json: 'text',
    bytes: 'blob',
    flag: 'integer',
    true: '1',
    keyed: 'without rowid',
    position: 'integer primary key autoincrement',
  },
  secure: async () => {},
}
