import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../../../test/postgres/database.ts'
import { stepNames } from '../migrate.ts'
import { prepareDatabase } from './prepare-database.ts'

let db: TestDatabase

beforeEach(async () => {
  db = await freshDatabase()
})
afterEach(() => db.drop())

const prepare = () => prepareDatabase({ url: db.url, edition: 'standard', log: () => {} })
const ran = async () =>
  (await db.query('select name from kysely_migration order by 1')).map((row) => row.name)

test('4.9 #131 of two nodes that migrate at once one does and one waits', async () => {
  const roles = await Promise.all([prepare(), prepare(), prepare()])
  expect(new Set(roles.map((role) => role.app)).size).toBe(1)
  expect(await ran()).toEqual(stepNames)
})

test('4.9 #121 a start that was cut off before the rows were secured is completed by the next', async () => {
  const roles = await prepare()
  await db.query('alter table secrets disable row level security')
  await db.query('alter table secrets no force row level security')
  await db.query(`revoke all on secrets from ${roles.app}, ${roles.system}`)
  await db.query('drop trigger hint_definitions on definition_versions')
  await prepare()
  expect(
    await db.query(
      `select relforcerowsecurity as forced, has_table_privilege($1, oid, 'select') as readable,
         exists (select from pg_trigger where tgname = 'hint_definitions') as hints
       from pg_class where oid = 'secrets'::regclass`,
      [roles.app],
    ),
  ).toEqual([{ forced: true, readable: true, hints: true }])
})

test('4.9 #132 a database of a newer version is refused and left as it is', async () => {
  await prepare()
  await db.query("insert into kysely_migration (name, timestamp) values ('999-future', '2030')")
  await db.query('alter table secrets no force row level security')
  await expect(prepare()).rejects.toMatchObject({ code: 'store.newer' })
  expect(await ran()).toEqual([...stepNames, '999-future'])
  expect(
    await db.query("select relforcerowsecurity as forced from pg_class where oid = 'secrets'::regclass"),
  ).toEqual([{ forced: false }])
})

test('a database of an older development version is refused, and named as such', async () => {
  await prepare()
  await db.query("update kysely_migration set name = '020-recovery-view'")
  await expect(prepare()).rejects.toMatchObject({
    code: 'store.older',
    message: expect.stringContaining('020-recovery-view'),
  })
})

test('a start that finds everything in order changes nothing, and waits for nobody', async () => {
  await prepare()
  const other = new pg.Client(db.superUrl)
  await other.connect()
  await other.query('begin')
  const tables = await db.query(
    "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
  )
  // Whatever alters a table would wait for this.
  for (const { relname } of tables) await other.query(`lock table ${relname} in share row exclusive mode`)
  await prepare()
  await other.end()
})
