import { expect, test } from 'vitest'
import { event, newTenant } from '../../../test/store/samples.fixture.ts'
import { openSqlite } from '../../../test/store/sqlite.fixture.ts'
import type { EventRecord } from '../../history/audit-tables.ts'

test('what was recorded is there for every reader at once, and in rows', async () => {
  const database = await openSqlite()
  const { store } = database
  const tenant = await newTenant(store)
  await store.recordEvents([event(tenant, { event_id: 'e', hooks: [{}] })], [], [])
  expect(await store.findEvent(tenant, 'e')).toMatchObject({ event_id: 'e' })
  expect(await database.execute('select position from audit_journal')).toEqual([])
  await database.dispose()
})

test('4.9 #119 what a process left in the journal is in rows after the next start', async () => {
  const database = await openSqlite()
  const tenant = await newTenant(database.store)
  const group = Array.from({ length: 50 }, () => event(tenant, { hooks: [{}] }))
  await database.store.recordEvents(group, [], [])
  // A second store on the file stands for the process that comes after a kill.
  const next = await database.reopen()
  expect((await next.history(tenant, {}, { limit: 200 })).rows).toHaveLength(50)
  expect(await next.verifyAudit()).toEqual({ checked: 50 })
  await database.dispose()
})

test('a group that can never be written is passed over, told by the audit, and holds up nobody', async () => {
  const database = await openSqlite()
  const { store } = database
  const tenant = await newTenant(store)
  const bad = { ...event(tenant), event: null } as unknown as EventRecord
  await store.recordEvents([bad], [], [])
  await store.recordEvents([event(tenant, { event_id: 'behind', hooks: [{}] })], [], [])
  expect((await store.verifyAudit()).broken).toMatchObject({ chain: 'journal' })
  expect(await store.findEvent(tenant, 'behind')).toMatchObject({ event_id: 'behind' })
  await database.dispose()
})
