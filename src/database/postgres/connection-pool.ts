import pg from 'pg'
import type { Log } from '../../engine/core/records/sink.ts'
import { isUuid } from '../column-values.ts'
import { breaksConnection, postgresStoreError } from './postgres-error.ts'
import { readJson, readText } from './stored-text.ts'

/** Connections that are idle for this long are closed. */
const IDLE_MS = 30_000

type Work<T> = (client: pg.PoolClient) => Promise<T>

/** Connections of one role, and transactions on them. */
export interface ConnectionPool {
  /** Runs one statement as its own transaction. A statement with a name is prepared once per connection. */
  query(statement: pg.QueryConfig): Promise<pg.QueryResult>
  /** `begin` is the statement that starts the transaction. */
  transaction<T>(begin: string, work: Work<T>): Promise<T>
  /** Runs a transaction of one tenant. `work` need not wait for its start: without a tenant, row-level security hides all rows. */
  tenantTransaction<T>(tenantId: string, work: Work<T>): Promise<T>
  /** Runs independent statements as one transaction of one tenant, in one round trip. */
  tenantQueries(tenantId: string, statements: readonly pg.QueryConfig[]): Promise<readonly pg.QueryResult[]>
  close(): Promise<void>
}

export function openPool(url: string, size: number, log: Log): ConnectionPool {
  // Pipelining sends independent statements without waiting for answers.
  const pool = new pg.Pool({
    ...connectionConfig(url),
    max: size,
    idleTimeoutMillis: IDLE_MS,
    pipeline: true,
  })
  // The pool has already dropped the connection; the next query opens another.
  pool.on('error', (error) => log('store.connection_lost', { why: error.message }))
  // An idle connection can break. Its next statement reports it; without this listener the process would end.
  pool.on('connect', (client) => client.on('error', () => {}))

  const withClient = async <T>(work: Work<T>): Promise<T> => {
    try {
      const client = await pool.connect()
      let isBroken = false
      try {
        return await work(client)
      } catch (error) {
        isBroken = !(await rollBack(client, error))
        throw error
      } finally {
        client.release(isBroken)
      }
    } catch (error) {
      throw postgresStoreError(error)
    }
  }

  return {
    query: (statement) => withClient((client) => client.query(statement)),
    transaction: (begin, work) =>
      withClient(async (client) => {
        await client.query(begin)
        return runAndCommit(client, work)
      }),
    tenantTransaction: (tenantId, work) =>
      withClient(async (client) => {
        const begun = client.query(beginAs(tenantId))
        begun.catch(() => {})
        return runAndCommit(client, async () => {
          const answer = await work(client)
          await begun
          return answer
        })
      }),
    tenantQueries: (tenantId, statements) =>
      withClient(async (client) => {
        const begun = client.query(beginAs(tenantId))
        const queries = Promise.all(statements.map((statement) => client.query(statement)))
        // PostgreSQL rolls back if a statement fails.
        const [, answers] = await Promise.all([begun, queries, commit(client)])
        return answers
      }),
    close: () => pool.end(),
  }
}

/** The statement that begins a tenant's transaction. The setting ends with the transaction. */
export function beginAs(tenantId: string): string {
  // A malformed id becomes empty, which matches no row.
  return `begin; select set_config('hookhelm.tenant', '${isUuid(tenantId) ? tenantId : ''}', true)`
}

async function runAndCommit<T>(client: pg.PoolClient, work: Work<T>): Promise<T> {
  const answer = await work(client)
  await commit(client)
  return answer
}

/** PostgreSQL answers the commit of a failed transaction with ROLLBACK instead of an error. */
async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('commit')
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
}

async function rollBack(client: pg.PoolClient, error: unknown): Promise<boolean> {
  if (breaksConnection(error)) return false
  try {
    await client.query('rollback')
    return true
  } catch {
    return false
  }
}

/** Longer than any of our statements takes on a healthy server; retention works in small steps. */
const STATEMENT_MS = 15_000
/** The longest wait for a row that another node has locked. */
const LOCK_MS = 5_000
const CONNECT_MS = 5_000
/** The server's own limit is shorter, so only a silent connection reaches this one. */
const SILENCE_MS = STATEMENT_MS + 5_000

/** The URL of the same database with another role. Other options in the URL stay. */
export function urlForRole(url: string, role: string): string {
  const cut = url.indexOf('?')
  const query = new URLSearchParams(cut < 0 ? '' : url.slice(cut + 1))
  query.set('options', `${query.get('options') ?? ''} -c role=${role}`.trim())
  return `${cut < 0 ? url : url.slice(0, cut)}?${query}`
}

/** Sets a limit for every wait, here and on the server. */
export function connectionConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'hookhelm',
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: STATEMENT_MS,
    query_timeout: SILENCE_MS,
    keepAlive: true,
    types: { getTypeParser: parserOf },
  }
}

type ParseColumn = (text: string) => unknown

const parsers: Readonly<Record<number, ParseColumn>> = {
  // bigint and numeric: times and counts, all below 2⁵³.
  20: Number,
  1700: Number,
  25: readText,
  1043: readText,
  114: readJson,
  3802: readJson,
}

function parserOf(oid: number, format?: 'text' | 'binary'): ParseColumn {
  return (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid, format as 'text')
}
