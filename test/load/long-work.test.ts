import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { event, keyring, NOON, newTenant } from '../store/samples.fixture.ts'

/** A store with a past of several pages of everything. */
async function filled(): Promise<{ store: Store; tenant: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-long-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const store = await openSqliteStore({ file: join(folder, 'store.db'), keyring })
  onTestFinished(() => store.close())
  const tenant = await newTenant(store)
  const batch = Array.from({ length: 200 }, () =>
    event(tenant, { hooks: Array.from({ length: 40 }, () => ({})) }),
  )
  await store.recordEvents(batch, [], [])
  return { store, tenant }
}

const ages = { keep_executions_ms: 0, keep_deliveries_ms: 0 }

/** The embedded store has one thread: whoever comes while it works for long must get in between. */
test.each([
  ['verifying', (store: Store) => store.verifyAudit()],
  ['pruning', (store: Store) => store.prune(ages, NOON + 1)],
  ['deleting a tenant', (store: Store, tenant: string) => store.deleteTenant(tenant)],
])('4.9 while it is %s, the store answers others', async (_, work) => {
  const { store, tenant } = await filled()
  // Until all of it is in rows, so that only the work itself is left.
  expect((await store.verifyAudit()).broken).toBeUndefined()
  const order: string[] = []
  await Promise.all([
    work(store, tenant).then(() => order.push('work')),
    store.ping().then(() => order.push('ping')),
  ])
  expect(order).toEqual(['ping', 'work'])
})
