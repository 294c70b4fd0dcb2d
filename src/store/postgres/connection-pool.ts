import pg from 'pg'
import type { Log } from '../../engine/core/sink.ts'
import { isUuid } from '../sql/column-values.ts'
import { asStoreError, spoilsConnection } from './postgres-error.ts'
import { readJson, readText } from './stored-text.ts'

/** A connection that nobody has used for so long is given back to the server. */
const IDLE_MS = 30_000

type Work<T> = (client: pg.PoolClient) => Promise<T>

/** Connections that play one role, and transactions on them. */
export interface Pool {
  /** One statement, which is a transaction of its own. Statements with a name are prepared once per connection. */
  query(statement: pg.QueryConfig): Promise<pg.QueryResult>
  /** `begin` may say more than that. */
  transaction<T>(begin: string, work: Work<T>): Promise<T>
  /** One of a tenant. Without its beginning the app sees no row and writes none, so nobody waits for that to be answered. */
  tenantTransaction<T>(tenantId: string, work: Work<T>): Promise<T>
  close(): Promise<void>
}

export function openPool(url: string, size: number, log: Log): Pool {
  // Statements that do not need each other's answers are sent without waiting for them.
  const pool = new pg.Pool({
    ...connectionConfig(url),
    max: size,
    idleTimeoutMillis: IDLE_MS,
    pipeline: true,
  })
  // The pool has dropped the connection already; the next question opens another.
  pool.on('error', (error) => log('store.connection_lost', { why: error.message }))
  // A connection can break while nobody waits for an answer; its next statement tells. Unheard, this would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))

  const lend = async <T>(work: Work<T>): Promise<T> => {
    try {
      const client = await pool.connect()
      let spoilt = false
      try {
        return await work(client)
      } catch (error) {
        spoilt = !(await rolledBack(client, error))
        throw error
      } finally {
        client.release(spoilt)
      }
    } catch (error) {
      throw asStoreError(error)
    }
  }

  return {
    query: (statement) => lend((client) => client.query(statement)),
    transaction: (begin, work) =>
      lend(async (client) => {
        await client.query(begin)
        return committed(client, work)
      }),
    tenantTransaction: (tenantId, work) =>
      lend(async (client) => {
        const begun = client.query(beginAs(tenantId))
        begun.catch(() => {})
        return committed(client, async () => {
          const answer = await work(client)
          await begun
          return answer
        })
      }),
    close: () => pool.end(),
  }
}

/** Ends with the transaction: the next user of the connection is nobody until it says who it is. */
export function beginAs(tenantId: string): string {
  // Nothing else is the id of a tenant, so it sees nobody's rows.
  return `begin; select set_config('hookhelm.tenant', '${isUuid(tenantId) ? tenantId : ''}', true)`
}

async function committed<T>(client: pg.PoolClient, work: Work<T>): Promise<T> {
  const answer = await work(client)
  await commit(client)
  return answer
}

/** A transaction that failed inside answers its commit with a rollback, not with an error. */
async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('commit')
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
}

async function rolledBack(client: pg.PoolClient, error: unknown): Promise<boolean> {
  if (spoilsConnection(error)) return false
  try {
    await client.query('rollback')
    return true
  } catch {
    return false
  }
}

/** Longer than any statement of ours takes on a healthy server; retention works in small steps. */
const STATEMENT_MS = 15_000
/** Waiting for a row that another node holds. */
const LOCK_MS = 5_000
const CONNECT_MS = 5_000
/** The server ends a statement before this; only a connection that has gone silent gets here. */
const SILENCE_MS = STATEMENT_MS + 5_000

/** The same address, as another role from the first moment on. What the address already asks for stays. */
export function asRole(url: string, role: string): string {
  const cut = url.indexOf('?')
  const query = new URLSearchParams(cut < 0 ? '' : url.slice(cut + 1))
  query.set('options', `${query.get('options') ?? ''} -c role=${role}`.trim())
  return `${cut < 0 ? url : url.slice(0, cut)}?${query}`
}

/** Nothing waits for ever, neither here nor on the server. */
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

type Parse = (text: string) => unknown

const parsers: Readonly<Record<number, Parse>> = {
  // bigint and numeric: times and counts, all below 2⁵³.
  20: Number,
  1700: Number,
  25: readText,
  1043: readText,
  114: readJson,
  3802: readJson,
}

function parserOf(oid: number, format?: 'text' | 'binary'): Parse {
  return (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid, format as 'text')
}
