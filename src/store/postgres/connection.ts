import pg from 'pg'
import { readJson, readText } from './stored-text.ts'

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
