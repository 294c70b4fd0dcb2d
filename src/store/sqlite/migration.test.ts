import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { runChild } from '../../../test/store/run-child.fixture.ts'
import { keyring, NOON, newTenant } from '../../../test/store/samples.fixture.ts'
import { databasePath } from '../../../test/store/sqlite.fixture.ts'
import { stepNames } from '../migrate.ts'
import { openSqliteStore } from './sqlite-store.ts'

test.each(stepNames)(
  '4.9 #121 killed in the step %s, the next start completes the migration',
  async (step) => {
    const file = databasePath()
    const { signal } = await runChild('die migrating', file, { argument: step })
    expect(signal).toBe('SIGKILL')
    const half = new DatabaseSync(file)
    const tables = half.prepare(`select name from sqlite_master where name in ('tenants', 'secrets')`).all()
    half.close()
    expect(tables).toEqual([])
    const store = await openSqliteStore({ file, keyring })
    await newTenant(store)
    await store.close()
  },
)

test('4.9 #131 of processes that migrate at once one does it and the others wait', async () => {
  const file = databasePath()
  const argument = '6'
  const ran = await Promise.all(Array.from({ length: 6 }, () => runChild('migrate', file, { argument })))
  expect(ran.map(({ lines }) => lines)).toEqual(Array.from({ length: 6 }, () => ['migrated']))
  const store = await openSqliteStore({ file, keyring })
  await newTenant(store)
  await store.close()
})

test('4.9 #132 a database that is newer than the code is refused and left as it is', async () => {
  const file = databasePath()
  const store = await openSqliteStore({ file, keyring })
  await newTenant(store)
  await store.close()
  const database = new DatabaseSync(file)
  database.exec(`insert into kysely_migration (name, timestamp) values ('999-future', '${NOON}')`)
  database.close()
  const before = readFileSync(file)
  await expect(openSqliteStore({ file, keyring })).rejects.toMatchObject({
    code: 'store.newer',
    message: expect.stringContaining('999-future'),
  })
  expect(readFileSync(file).equals(before)).toBe(true)
})

test('a database of an older development version is refused, named as such, and left as it is', async () => {
  const file = databasePath()
  const store = await openSqliteStore({ file, keyring })
  await store.close()
  const database = new DatabaseSync(file)
  database.exec(`update kysely_migration set name = '020-recovery-view'`)
  database.close()
  const before = readFileSync(file)
  await expect(openSqliteStore({ file, keyring })).rejects.toMatchObject({
    code: 'store.older',
    message: expect.stringContaining('020-recovery-view'),
    hint: expect.stringContaining('Move the database away'),
  })
  expect(readFileSync(file).equals(before)).toBe(true)
})

test('a database that is opened again has everything', async () => {
  const file = databasePath()
  const first = await openSqliteStore({ file, keyring })
  const tenant = await newTenant(first)
  await first.close()
  const second = await openSqliteStore({ file, keyring })
  expect(await second.findTenant(tenant)).toMatchObject({ id: tenant })
  await second.close()
})
