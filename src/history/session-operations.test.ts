import { expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../test/store/each-store.fixture.ts'
import { NOON, newTenant } from '../../test/store/samples.fixture.ts'

onEachStore('folders of sessions', (open) => {
  const at = shareStore(open)

  test('the first folder stays, for every node', async () => {
    const tenant = await newTenant(at.store)
    const second = await at.database.reopen()
    expect(await at.store.keepSessionFolder(tenant, 's', undefined)).toBeUndefined()
    expect(await at.store.keepSessionFolder(tenant, 's', '/repo ä')).toBe('/repo ä')
    expect(await second.keepSessionFolder(tenant, 's', '/elsewhere')).toBe('/repo ä')
    expect(await second.keepSessionFolder(tenant, 's', undefined)).toBe('/repo ä')
  })

  test('of many who name a folder at once, one is first', async () => {
    const tenant = await newTenant(at.store)
    const second = await at.database.reopen()
    const found = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? at.store : second).keepSessionFolder(tenant, 's', `/folder ${n}`),
      ),
    )
    expect(new Set(found).size).toBe(1)
  })

  test('4.10 #142 another tenant has its own, and a deleted tenant has none', async () => {
    const [one, other] = [await newTenant(at.store), await newTenant(at.store)]
    await at.store.keepSessionFolder(one, 's', '/one')
    expect(await at.store.keepSessionFolder(other, 's', undefined)).toBeUndefined()
    expect(await at.store.keepSessionFolder(other, 's', '/other')).toBe('/other')
    await at.store.deleteTenant(one)
    const left = await at.database.execute(`select folder from session_folders where tenant_id = '${one}'`)
    expect(left).toEqual([])
    expect(await at.store.keepSessionFolder(other, 's', undefined)).toBe('/other')
  })

  test('it goes with the history of its session, counted from its last use', async () => {
    const tenant = await newTenant(at.store)
    const limits = { keep_executions_ms: 10, keep_deliveries_ms: 10 }
    await at.store.keepSessionFolder(tenant, 'old', '/old', NOON)
    await at.store.keepSessionFolder(tenant, 'used', '/used', NOON)
    await at.store.keepSessionFolder(tenant, 'used', undefined, NOON + 1)
    expect(await at.store.prune(limits, NOON + 11)).toBe(1)
    expect(await at.store.keepSessionFolder(tenant, 'old', undefined)).toBeUndefined()
    expect(await at.store.keepSessionFolder(tenant, 'used', undefined)).toBe('/used')
  })
})
