import { createHash, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../test/store/each-store.fixture.ts'
import { coded, delivery, event, hook, NOON, newTenant } from '../../test/store/samples.fixture.ts'
import { MASTER_TENANT, OWNER_MEMBER } from '../access/tenant-tables.ts'

const hashOf = (token: string) => createHash('sha256').update(token).digest()

onEachStore('tenants and tokens', (open) => {
  const at = shareStore(open)

  test('a tenant is found by id and by name', async () => {
    const tenant = { id: randomUUID(), name: `acme ${randomUUID()}`, created_at: NOON }
    await at.store.createTenant(tenant)
    expect(await at.store.findTenant(tenant.id)).toEqual(tenant)
    expect(await at.store.findTenant(tenant.name)).toEqual(tenant)
    expect(await at.store.findTenant(randomUUID())).toBeUndefined()
    expect(await at.store.findTenant('nobody')).toBeUndefined()
  })

  test('a name or id is given once', async () => {
    const tenant = { id: randomUUID(), name: randomUUID().slice(1), created_at: NOON }
    await at.store.createTenant(tenant)
    await expect(at.store.createTenant({ ...tenant, id: randomUUID() })).rejects.toMatchObject(
      coded('store.taken'),
    )
    await expect(at.store.createTenant({ ...tenant, name: randomUUID().slice(1) })).rejects.toMatchObject(
      coded('store.taken'),
    )
  })

  test('tenants are listed in pages, the master tenant never', async () => {
    const ids = [await newTenant(at.store), await newTenant(at.store), await newTenant(at.store)]
    const seen: string[] = []
    for (let after = ''; ; ) {
      const page = await at.store.listTenants({ limit: 2, ...(after === '' ? {} : { after }) })
      seen.push(...page.map((tenant) => tenant.id))
      if (page.length < 2) break
      after = page.at(-1)?.id ?? ''
    }
    expect(seen).toEqual(seen.toSorted())
    expect(seen).toEqual(expect.arrayContaining(ids))
    expect(seen).not.toContain(MASTER_TENANT)
    expect(await at.store.findTenant(MASTER_TENANT)).toMatchObject({ id: MASTER_TENANT })
  })

  test('deleting a tenant takes everything with it, and nothing of others', async () => {
    const [gone, kept] = [await newTenant(at.store), await newTenant(at.store)]
    for (const tenant of [gone, kept]) {
      await at.store.createHook(hook(tenant), NOON)
      await at.store.createToken(token(tenant, `t ${tenant}`))
      await at.store.putSecret({ tenant_id: tenant, name: 'n', sealed: 'aes-gcm:k1:x', updated_at: 1 })
      await at.store.writeSettings(tenant, { a: 1 }, NOON)
      await at.store.spendBudget(tenant, 5, 100, NOON)
      await at.store.recordEvents(
        [event(tenant, { event_id: 'e', session_id: 's', hooks: [{}, {}] })],
        [delivery(tenant, 'k')],
        [],
      )
    }
    expect(await at.store.deleteTenant(gone)).toBe(true)
    expect(await at.store.deleteTenant(gone)).toBe(false)
    expect(await at.store.deleteTenant(MASTER_TENANT)).toBe(false)
    expect(await at.store.findTenant(gone)).toBeUndefined()
    expect(await at.store.findToken(hashOf(`t ${gone}`))).toBeUndefined()
    expect(await countAll(gone)).toEqual({
      hooks: 0,
      executions: 0,
      sessions: 0,
      deliveries: 0,
      secrets: 0,
    })
    expect(await at.store.findEvent(gone, 'e')).toBeUndefined()
    expect(await at.store.readSettings(gone)).toEqual({})
    expect(await countAll(kept)).toEqual({
      hooks: 1,
      executions: 2,
      sessions: 1,
      deliveries: 1,
      secrets: 1,
    })
    expect(await at.store.readBudget(kept, 100, NOON)).toMatchObject({ remaining: 95 })
    // What remains can still be verified.
    expect((await at.store.verifyAudit()).broken).toBeUndefined()
  })

  test('a token is found by its hash alone', async () => {
    const tenant = await newTenant(at.store)
    const { hash, ...row } = token(tenant, randomUUID(), { expires_at: NOON - 1, agent_id: 'a' })
    await at.store.createToken({ ...row, hash })
    expect(await at.store.findToken(hash)).toEqual(row)
    expect(await at.store.findToken(hashOf('other'))).toBeUndefined()
    expect(await at.store.listTokens(tenant)).toEqual([row])
    await expect(at.store.createToken({ ...row, id: randomUUID(), hash })).rejects.toMatchObject(
      coded('store.taken'),
    )
    expect(await at.store.deleteToken(tenant, row.id)).toBe(true)
    expect(await at.store.deleteToken(tenant, row.id)).toBe(false)
    expect(await at.store.deleteToken(tenant, 'no id')).toBe(false)
    expect(await at.store.findToken(hash)).toBeUndefined()
  })

  test('what belongs to a tenant that is not there is refused with a code', async () => {
    await expect(at.store.createHook(hook(randomUUID()), NOON)).rejects.toMatchObject(
      coded('gateway.not_found'),
    )
  })

  test('a store answers when it is asked whether it is there', async () => {
    await expect(at.store.ping()).resolves.toBeUndefined()
    expect(['sqlite', 'postgres']).toContain(at.store.dialect)
    at.store.onHint(() => {})()
  })

  const token = (tenant_id: string, text: string, fields = {}) => ({
    id: randomUUID(),
    tenant_id,
    member_id: OWNER_MEMBER,
    name: 'ci',
    role: 'operator' as const,
    agent_id: null,
    created_at: NOON,
    expires_at: null,
    hash: hashOf(text),
    ...fields,
  })
  const countAll = async (tenant: string) => ({
    hooks: (await at.store.listHooks(tenant, { scope: 'tenant' })).filter((row) => row.tenant_id === tenant)
      .length,
    executions: (await at.store.history(tenant, {}, { limit: 10 })).rows.length,
    sessions: (await at.store.listSessions(tenant, {}, { limit: 10 })).rows.length,
    deliveries: (await at.store.listDeliveries(tenant, {}, { limit: 10 })).rows.length,
    secrets: (await at.store.listSecrets(tenant)).length,
  })
})
