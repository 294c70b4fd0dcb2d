import { afterEach, beforeEach, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/postgres/database.ts'
import { openStore } from '../../../test/store/postgres.fixture.ts'
import { NOON, newTenant } from '../../../test/store/samples.fixture.ts'
import { urlForRole } from '../../database/postgres/connection-pool.ts'
import { rolesOfDatabase } from './roles.ts'

let db: TestDatabase

beforeEach(async () => {
  db = await freshDatabase()
})
afterEach(() => db.drop())

const tablesThere = () => db.query("select from pg_class where relname = 'tenants'")

test('4.10 #145 a superuser is refused where there are several tenants, and nothing is touched', async () => {
  await expect(openStore(db, { url: db.superUrl })).rejects.toMatchObject({
    code: 'store.role',
    message: expect.stringContaining('superuser'),
  })
  expect(await tablesThere()).toEqual([])
})

test('4.10 #145 a BYPASSRLS role is refused where there are several tenants', async () => {
  await db.query(`alter role ${db.role} bypassrls`)
  await expect(openStore(db)).rejects.toMatchObject({
    code: 'store.role',
    message: expect.stringContaining('BYPASSRLS'),
  })
  expect(await tablesThere()).toEqual([])
})

test('4.10 #145 a role that owns the tables it works on is refused where there are several tenants', async () => {
  await (await openStore(db)).close()
  await db.query(`alter table secrets owner to ${rolesOfDatabase(db.name).app}`)
  // The owner of the others may mend what is wrong with it only as a member of that role.
  await db.query(`grant ${rolesOfDatabase(db.name).app} to ${db.role} with inherit true, set true`)
  await expect(openStore(db)).rejects.toMatchObject({
    code: 'store.role',
    message: expect.stringContaining('owns the table secrets'),
  })
})

test('4.10 #145 on a machine of one person a superuser is let in, and the log says so', async () => {
  const lines: string[] = []
  const store = await openStore(db, { url: db.superUrl, edition: 'lite', log: (name) => lines.push(name) })
  expect(await store.findTenant(await newTenant(store))).toMatchObject({ created_at: NOON })
  expect(lines).toEqual(['security.store.role'])
  await store.close()
})

test('4.10 #145 a login that may not create roles is told what an administrator has to do', async () => {
  await db.query(`alter role ${db.role} nocreaterole`)
  const { app, system } = rolesOfDatabase(db.name)
  await expect(openStore(db)).rejects.toMatchObject({
    code: 'store.role',
    hint: expect.stringContaining(`create role ${app}`),
  })
  for (const role of [app, system]) {
    await db.query(`create role ${role} nologin`)
    await db.query(`grant ${role} to ${db.role} with inherit false, set true`)
  }
  await (await openStore(db)).close()
})

test('the roles of one database have no part in another of the same cluster', async () => {
  const other = await freshDatabase()
  for (const each of [db, other]) await (await openStore(each)).close()
  const { app } = rolesOfDatabase(other.name)
  expect(await db.query("select has_table_privilege($1, 'secrets', 'select') as may", [app])).toEqual([
    { may: false },
  ])
  await other.drop()
})

test('names of databases that no role could carry still give roles', () => {
  expect(rolesOfDatabase('Örtlich; drop').app).toMatch(/^hookhelm_app_[0-9a-f]{16}$/)
  expect(rolesOfDatabase('x'.repeat(63)).system.length).toBeLessThan(63)
  expect(rolesOfDatabase('prod').app).toBe('hookhelm_app_prod')
})

test('what the address asks for stays when a role is added to it', () => {
  expect(urlForRole('postgres://u@h/d', 'r')).toBe('postgres://u@h/d?options=-c+role%3Dr')
  const both = new URL(urlForRole('postgres://u@h/d?sslmode=require&options=-c%20geqo%3Doff', 'r'))
    .searchParams
  expect([both.get('sslmode'), both.get('options')]).toEqual(['require', '-c geqo=off -c role=r'])
})
