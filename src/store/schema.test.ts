import { readFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { Kysely } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../test/postgres/database.ts'
import { postgresCatalogue, sqliteCatalogue } from '../../test/store/catalogue.fixture.ts'
import { postgresSchema, queryBuilderOn } from '../database/postgres/postgres-dialect.ts'
import type { SchemaDialect } from '../database/schema-statements.ts'
import { sqliteDialect, sqliteSchema } from '../database/sqlite/sqlite-dialect.ts'
import { migrate, schemaStatements, stepNames } from './migrate.ts'

interface Schema {
  readonly db: Kysely<never>
  execute(text: string): Promise<readonly unknown[]>
  catalogue(): Promise<unknown>
}

async function openSqlite(): Promise<Schema> {
  const database = new DatabaseSync(':memory:')
  return {
    db: new Kysely({ dialect: sqliteDialect(database) }),
    execute: async (text) =>
      database
        .prepare(text)
        .all()
        .map((row) => ({ ...row })),
    catalogue: async () => sqliteCatalogue(database),
  }
}

async function openPostgres(): Promise<Schema> {
  const fresh = await freshDatabase()
  const client = new pg.Client(fresh.url)
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await fresh.drop()
  })
  const execute = async (text: string) => (await client.query(text)).rows
  return {
    db: queryBuilderOn(client) as unknown as Kysely<never>,
    execute,
    catalogue: () => postgresCatalogue(execute),
  }
}

const databases: readonly [name: string, dialect: SchemaDialect, open: () => Promise<Schema>][] = [
  ['sqlite', sqliteSchema, openSqlite],
  ['postgres', postgresSchema, openPostgres],
]

describe.each(databases)('the schema of %s', (name, dialect, open) => {
  const file = new URL(`../../test/store/baseline.${name}.sql`, import.meta.url)
  /** A database that ran the baseline, and none of the steps after it. */
  const openBaseline = async () => {
    const schema = await open()
    const baseline = (await readFile(file, 'utf8')).split(';\n\n').filter((text) => text.trim() !== '')
    await migrate(schema.db, dialect, { ran: stepNames, baseline, steps: {} })
    return schema
  }

  // The baseline follows the declarations until the first release. Then this test goes, and the file stays as it is.
  test('the baseline is what the tables declare', async () => {
    const text = schemaStatements(dialect).map((statement) => `${statement};\n\n`)
    await expect(text.join('')).toMatchFileSnapshot(fileURLToPath(file))
  })

  test('a database of the baseline that runs every later step has the tables of a fresh one', async () => {
    const [upgraded, fresh] = [await openBaseline(), await open()]
    await migrate(upgraded.db, dialect, { ran: ['001-baseline'] })
    await migrate(fresh.db, dialect, { ran: [] })
    expect(await upgraded.catalogue()).toEqual(await fresh.catalogue())
  })

  test('a database of the baseline is upgraded by a step, once, and keeps its rows', async () => {
    const { db, execute } = await openBaseline()
    const steps = {
      '002-notes': () => ['alter table tenants add column note text', "update tenants set note = 'kept'"],
    }
    await migrate(db, dialect, { ran: stepNames, steps })
    await migrate(db, dialect, { ran: [...stepNames, '002-notes'], steps })
    expect(await execute('select name, note from tenants')).toEqual([{ name: 'master', note: 'kept' }])
  })

  test('a fresh database has what a later step would do already', async () => {
    const { db, execute } = await open()
    await migrate(db, dialect, { ran: [], steps: { '002-late': () => ['drop table tenants'] } })
    expect(await execute('select name from tenants')).toEqual([{ name: 'master' }])
    expect(await execute('select name from kysely_migration order by 1')).toEqual([
      { name: '001-baseline' },
      { name: '002-late' },
    ])
  })
})
