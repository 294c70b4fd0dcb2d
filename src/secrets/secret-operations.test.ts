import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../test/store/each-store.fixture.ts'
import { event, NOON, newTenant } from '../../test/store/samples.fixture.ts'
import { MASTER_TENANT } from '../access/tenant-tables.ts'

onEachStore('secrets, providers and settings', (open) => {
  const at = shareStore(open)

  test('a secret is put, put again, listed and deleted', async () => {
    const tenant_id = await newTenant(at.store)
    const secret = { tenant_id, name: 'a', sealed: 'aes-gcm:k1:one', updated_at: NOON }
    await at.store.putSecret({ ...secret, name: 'b' })
    await at.store.putSecret({ ...secret, sealed: 'aes-gcm:k1:zero' })
    await at.store.putSecret(secret)
    expect(await at.store.listSecrets(tenant_id)).toEqual([secret, { ...secret, name: 'b' }])
    expect(await at.store.deleteSecret(tenant_id, 'a')).toBe(true)
    expect(await at.store.deleteSecret(tenant_id, 'a')).toBe(false)
    expect(await at.store.listSecrets(tenant_id)).toHaveLength(1)
  })

  test('the last report of each agent is kept, for its tenant only', async () => {
    const [tenant_id, other] = [await newTenant(at.store), await newTenant(at.store)]
    const row = { tenant_id, agent: 'codex', report: { checks: [{ state: 'ok' }] }, reported_at: NOON }
    await at.store.putAgentReport({ ...row, report: { checks: [] }, reported_at: 1 })
    await at.store.putAgentReport(row)
    await at.store.putAgentReport({ ...row, agent: 'claude-code' })
    await at.store.putAgentReport({ ...row, tenant_id: other, reported_at: 2 })
    expect(await at.store.listAgentReports(tenant_id)).toEqual([{ ...row, agent: 'claude-code' }, row])
    expect(await at.store.listAgentReports(other)).toMatchObject([{ reported_at: 2 }])
  })

  test('a provider is put, put again, listed and deleted', async () => {
    const tenant_id = await newTenant(at.store)
    const provider = {
      tenant_id,
      name: 'openai',
      base_url: null,
      default_model: 'm',
      sealed_key: null,
      updated_at: NOON,
    }
    const first = { ...provider, base_url: 'https://x' }
    expect(await at.store.putProvider(first)).toBe(true)
    expect(await at.store.putProvider(provider, first)).toBe(true)
    expect(await at.store.listProviders(tenant_id)).toEqual([provider])
    expect(await at.store.deleteProvider(tenant_id, 'openai')).toBe(true)
    expect(await at.store.deleteProvider(tenant_id, 'openai')).toBe(false)
  })

  test('a provider that is not the one that was read is left as it is', async () => {
    const tenant_id = await newTenant(at.store)
    const first = {
      tenant_id,
      name: 'openai',
      base_url: null,
      default_model: 'm',
      sealed_key: null,
      updated_at: NOON,
    }
    const changes = ['a', 'b', 'c'].map((sealed_key) => ({ ...first, sealed_key }))
    const put = async (before?: typeof first) =>
      (await Promise.all(changes.map((row) => at.store.putProvider(row, before)))).filter(Boolean)
    expect(await at.store.putProvider(first, first)).toBe(false)
    expect(await put()).toHaveLength(1)
    expect(await put(first)).toHaveLength(0)
    const [now] = await at.store.listProviders(tenant_id)
    expect(await at.store.putProvider(first, now)).toBe(true)
    expect(await put(first)).toHaveLength(1)
  })

  test('settings are merged, for a tenant and for the gateway; null takes one away', async () => {
    const tenant = await newTenant(at.store)
    expect(await at.store.readSettings(tenant)).toEqual({})
    await at.store.writeSettings(tenant, { a: 1, b: { c: ['\u0000'] } }, NOON)
    expect(await at.store.readSettings(tenant)).toEqual({ a: 1, b: { c: ['\u0000'] } })
    await at.store.writeSettings(tenant, { a: null, b: { d: 2 }, e: 3, f: null }, NOON)
    expect(await at.store.readSettings(tenant)).toEqual({ b: { d: 2 }, e: 3 })
    await at.store.writeSettings(MASTER_TENANT, { rate_limit: 5 }, NOON)
    expect(await at.store.readSettings(MASTER_TENANT)).toEqual({ rate_limit: 5 })
  })

  test('of many settings written at once none is lost', async () => {
    const tenant = await newTenant(at.store)
    const names = Array.from({ length: 10 }, (_, index) => `s${index}`)
    await Promise.all(names.map((name) => at.store.writeSettings(tenant, { [name]: 1 }, NOON)))
    expect(Object.keys(await at.store.readSettings(tenant)).toSorted()).toEqual(names)
  })

  test('4.11 #155 uses of a key add up, whoever adds them', async () => {
    const [one, two] = [randomUUID(), randomUUID()]
    expect(await at.store.addKeyUses({ [one]: 5 })).toMatchObject({ [one]: 5 })
    await Promise.all(Array.from({ length: 10 }, () => at.store.addKeyUses({ [one]: 1, [two]: 2 })))
    expect(await at.store.addKeyUses({})).toMatchObject({ [one]: 15, [two]: 20 })
  })

  test('4.11 #155 the store counts what it seals itself, also over a restart', async () => {
    const database = await open()
    try {
      const tenant = await newTenant(database.store)
      await database.store.recordEvents([event(tenant), event(tenant)], [], [])
      await database.store.close()
      const again = await database.reopen()
      // The group in the journal, two texts of each event in its rows, and the key of the chain.
      expect(await again.addKeyUses({})).toEqual({ k1: 6 })
    } finally {
      await database.dispose()
    }
  })
})
