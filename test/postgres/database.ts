import { randomBytes } from 'node:crypto'
import { createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { inject } from 'vitest'
import { type ServerAddress, superuserUrl } from './server.ts'

/** A fresh database, and a role to log in with that owns it and may make roles: what an operator sets up for us. */
export interface TestDatabase {
  readonly name: string
  readonly role: string
  /** As the login role, over TCP. */
  readonly url: string
  /** The same over the socket. */
  readonly socketUrl: string
  /** As superuser in this database. */
  readonly superUrl: string
  /** One statement as superuser, past every policy. */
  query(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** Ends every session of the login role, as an operator or a failover does; the answer counts them. */
  terminateBackends(): Promise<number>
  /** What a node sees after a failover to a standby: reads answer, writes fail with 25006. */
  setReadOnly(on: boolean): Promise<void>
  drop(): Promise<void>
}

/** The server that this run shares. */
export async function sharedServer(): Promise<ServerAddress> {
  const answer = JSON.parse(await text(createConnection(inject('postgresSocket'))))
  if (answer.failure !== undefined) throw new Error(answer.failure)
  return answer
}

export async function freshDatabase(server?: ServerAddress): Promise<TestDatabase> {
  const address = server ?? (await sharedServer())
  const name = `test_${randomBytes(5).toString('hex')}`
  const role = `${name}_login`
  await runAs(superuserUrl(address), [
    `create role ${role} login createrole password '${address.password}'`,
    // Not the order of bytes, as in most databases out there: what relies on that order shows.
    `create database ${name} owner ${role} template template0 locale_provider icu icu_locale 'en-US'`,
  ])
  const superUrl = superuserUrl(address, name)
  const query = async (sql: string, values: readonly unknown[] = []) => rowsAs(superUrl, sql, values)
  return {
    name,
    role,
    superUrl,
    query,
    url: `postgres://${role}:${address.password}@127.0.0.1:${address.port}/${name}`,
    socketUrl: `postgres://${role}:${address.password}@${encodeURIComponent(address.socketDir)}:${address.port}/${name}`,
    async terminateBackends() {
      const ended = await query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = $1`,
        [role],
      )
      return ended.length
    },
    async setReadOnly(on) {
      // Sessions that are open keep what they started with, so they are ended, as at a real failover.
      await runAs(superuserUrl(address), [
        `alter database ${name} ${on ? 'set default_transaction_read_only = on' : 'reset default_transaction_read_only'}`,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      ])
    },
    drop: () => runAs(superuserUrl(address), [`drop database ${name} with (force)`]),
  }
}

async function rowsAs(
  url: string,
  sql: string,
  values: readonly unknown[],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql, [...values])).rows
  } finally {
    await client.end()
  }
}

async function runAs(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
