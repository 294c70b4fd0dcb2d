import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ACME,
  admin,
  GLOBEX,
  guard,
  master,
  openTestMethods,
  otherAdmin,
  type TestMethods,
} from '../../test/gateway/test-methods.fixture.ts'
import { methods as table } from '../gateway/methods.ts'
import { hashToken } from '../safe/secrets/token.ts'
import { seedBuiltins } from '../stored-hooks/builtins/seed-builtins.ts'
import { agentId } from './agent-id.ts'
import { reaches } from './caller.ts'
import { MASTER_TENANT, type Role, roles } from './tenant-tables.ts'

let methods: TestMethods
beforeAll(async () => {
  methods = await openTestMethods({ edition: 'standard' })
})
afterAll(() => methods.close())

const as = (role: Role) => ({ ...admin, role })

describe('roles', () => {
  const least: Readonly<Record<string, Role>> = {
    'hooks.list': 'viewer',
    'hooks.history': 'viewer',
    'hooks.test': 'operator',
    'hooks.create': 'admin',
    'hooks.update': 'admin',
    'hooks.delete': 'admin',
    'hooks.toggle': 'admin',
  }

  test.each(Object.entries(least))('GC-109 %s needs %s', (name, role) => {
    expect(table.find((row) => row.name === name)?.role).toBe(role)
  })

  test.each(table.map(({ name, role }) => [name, role] as const))(
    'GC-109 4.10 #143 %s: whoever is less than %s is refused before anything is read',
    async (name, role) => {
      for (const lower of roles.filter((known) => !reaches(known, role)))
        await expect(methods.call(name, { nonsense: 1 }, as(lower))).rejects.toMatchObject({
          code: 'auth.scope',
        })
      await expect(methods.call(name, { nonsense: 1 }, as(role))).rejects.toMatchObject({
        code: 'gateway.request',
      })
    },
  )

  test('4.10 #143 an agent token may ask who it is, and nothing else', () => {
    expect(table.filter(({ role }) => role === 'agent').map(({ name }) => name)).toEqual(['caller.get'])
  })
})

describe('hooks of others', () => {
  test('GC-106 4.10 #142 they are not there: not to see, change, switch, try or delete', async () => {
    const { hookId } = await methods.call('hooks.create', guard)
    expect((await methods.call('hooks.list', {}, otherAdmin)).hooks).toEqual([])
    const missing = { code: 'gateway.not_found', message: `hook not found: ${hookId}` }
    await expect(methods.call('hooks.get', { hookId }, otherAdmin)).rejects.toMatchObject(missing)
    await expect(
      methods.call('hooks.update', { hookId, updates: { name: 'x' } }, otherAdmin),
    ).rejects.toMatchObject(missing)
    await expect(methods.call('hooks.toggle', { hookId }, otherAdmin)).rejects.toMatchObject(missing)
    await expect(methods.call('hooks.delete', { hookId }, otherAdmin)).rejects.toMatchObject(missing)
    await expect(methods.call('hooks.test', { hookId }, otherAdmin)).rejects.toMatchObject(missing)
    expect((await methods.call('hooks.get', { hookId })).hook).toMatchObject({ version: 1, enabled: true })
  })

  test('GC-106 GC-113 4.10 #143 global ones can be seen, and changed from the master scope only', async () => {
    const global = { ...guard, scope: 'global', name: 'for all' }
    await expect(methods.call('hooks.create', global)).rejects.toMatchObject({ code: 'auth.scope' })
    const { hookId } = await methods.call('hooks.create', global, master)
    for (const caller of [admin, otherAdmin])
      expect((await methods.call('hooks.get', { hookId }, caller)).hook.tenant_id).toBe(MASTER_TENANT)
    const missing = { code: 'gateway.not_found' }
    const updates = { name: 'x' }
    await expect(methods.call('hooks.update', { hookId, updates })).rejects.toMatchObject(missing)
    await expect(methods.call('hooks.toggle', { hookId, enabled: false })).rejects.toMatchObject(missing)
    await expect(methods.call('hooks.delete', { hookId })).rejects.toMatchObject(missing)
    await methods.call('hooks.update', { hookId, updates }, master)
    await methods.call('hooks.toggle', { hookId, enabled: false }, master)
    expect((await methods.call('hooks.get', { hookId })).hook).toMatchObject({ name: 'x', enabled: false })
    await methods.call('hooks.delete', { hookId }, master)
  })

  test('GC-91 builtin hooks accept only enabled', async () => {
    await seedBuiltins({ ...methods.parts, log: () => {} })
    const { hooks } = await methods.call('hooks.list', { scope: 'global' }, master)
    const hookId = hooks.find((hook) => hook.source === 'builtin')?.id ?? ''
    const readOnly = {
      code: 'gateway.builtin',
      message: 'builtin hooks are read-only except for the enabled toggle',
    }
    for (const updates of [{ name: 'x' }, { enabled: true, priority: 1 }, { enabled: 'yes' }])
      await expect(methods.call('hooks.update', { hookId, updates }, master)).rejects.toMatchObject(readOnly)
    await expect(methods.call('hooks.delete', { hookId }, master)).rejects.toMatchObject(readOnly)
    await methods.call('hooks.update', { hookId, updates: { enabled: true } }, master)
    expect((await methods.call('hooks.get', { hookId })).hook.enabled).toBe(true)
    expect(await methods.call('hooks.toggle', { hookId }, master)).toEqual({ hookId, enabled: false })
  })
})

describe('tenants', () => {
  test('are managed by an owner of the master scope', async () => {
    for (const caller of [as('owner'), otherAdmin])
      await expect(methods.call('tenants.list', {}, caller)).rejects.toMatchObject({ code: 'auth.scope' })
    const { tenantId } = await methods.call('tenants.create', { name: 'initech' }, master)
    const { tenants } = await methods.call('tenants.list', {}, master)
    expect(tenants.map((tenant) => tenant.name).toSorted()).toEqual(['acme', 'globex', 'initech'])
    expect((await methods.call('tenants.get', { tenantId: 'initech' }, master)).tenant.id).toBe(tenantId)
    await expect(methods.call('tenants.create', { name: 'initech' }, master)).rejects.toMatchObject({
      code: 'store.taken',
    })
    await methods.call('tenants.delete', { tenantId }, master)
    expect(methods.changed.slice(-2)).toEqual(['tokens', tenantId])
    await expect(methods.call('tenants.get', { tenantId }, master)).rejects.toMatchObject({
      code: 'gateway.not_found',
    })
  })

  test('neither the master scope nor the default tenant can be deleted', async () => {
    await expect(methods.call('tenants.delete', { tenantId: MASTER_TENANT }, master)).rejects.toMatchObject({
      code: 'gateway.not_found',
    })
    await expect(methods.call('tenants.delete', { tenantId: ACME }, master)).rejects.toMatchObject({
      code: 'gateway.request',
    })
  })

  test('a second one needs the standard edition', async () => {
    await expect(
      methods.call('tenants.create', { name: 'second' }, master, { edition: 'lite' }),
    ).rejects.toMatchObject({ code: 'gateway.edition' })
  })
})

describe('tokens', () => {
  test('a token is answered once and stored as a hash', async () => {
    const { tokenId, token } = await methods.call('tokens.create', { name: 'ci', role: 'viewer', days: 30 })
    const listed = await methods.call('tokens.list', {})
    expect(JSON.stringify(listed)).not.toContain(token)
    expect(listed.tokens).toMatchObject([
      { id: tokenId, name: 'ci', role: 'viewer', expires_at: methods.clock.now() + 30 * 86_400_000 },
    ])
    expect(await methods.store.findToken(hashToken(token))).toMatchObject({ id: tokenId, tenant_id: ACME })
    await expect(methods.call('tokens.delete', { tokenId }, otherAdmin)).rejects.toMatchObject({
      code: 'gateway.not_found',
    })
    await methods.call('tokens.delete', { tokenId })
    expect(methods.changed.at(-1)).toBe('tokens')
    expect(await methods.store.findToken(hashToken(token))).toBeUndefined()
  })

  test('nobody makes or revokes more than they are', async () => {
    await expect(methods.call('tokens.create', { name: 'x', role: 'owner' })).rejects.toMatchObject({
      code: 'auth.scope',
    })
    const { tokenId } = await methods.call('tokens.create', { name: 'boss', role: 'owner' }, as('owner'))
    await expect(methods.call('tokens.delete', { tokenId })).rejects.toMatchObject({ code: 'auth.scope' })
    await methods.call('tokens.delete', { tokenId }, as('owner'))
  })

  test('an agent token may be bound to its agent, and no other token', async () => {
    const { token } = await methods.call('tokens.create', { name: 'bot', role: 'agent', agentId: 'scribe' })
    expect(await methods.store.findToken(hashToken(token))).toMatchObject({
      agent_id: agentId(ACME, 'scribe'),
    })
    await expect(
      methods.call('tokens.create', { name: 'x', role: 'viewer', agentId: 'scribe' }),
    ).rejects.toMatchObject({ code: 'gateway.request' })
  })

  test('tokens of the master scope are made there', async () => {
    const wanted = { name: 'root 2', role: 'owner', master: true }
    await expect(methods.call('tokens.create', wanted, as('owner'))).rejects.toMatchObject({
      code: 'auth.scope',
    })
    const { token, tokenId } = await methods.call('tokens.create', wanted, master)
    expect(await methods.store.findToken(hashToken(token))).toMatchObject({ tenant_id: MASTER_TENANT })
    await expect(methods.call('tokens.delete', { tokenId, master: true }, master)).rejects.toMatchObject({
      code: 'gateway.conflict',
      message: 'the last owner token cannot be revoked',
    })
    const other = await methods.call('tokens.create', { ...wanted, days: 1 }, master)
    await expect(methods.call('tokens.delete', { tokenId, master: true }, master)).rejects.toMatchObject({
      code: 'gateway.conflict',
    })
    await methods.call('tokens.delete', { tokenId: other.tokenId, master: true }, master)
    await methods.call('tokens.create', wanted, master)
    await methods.call('tokens.delete', { tokenId, master: true }, master)
  })
})

test('4.10 #142 deliveries, budgets, secrets, providers and settings of another tenant stay theirs', async () => {
  await methods.call('secrets.set', { name: 'theirs', value: 'x' }, otherAdmin)
  await methods.call('providers.set', { name: 'openai', apiKey: 'sk-theirs' }, otherAdmin)
  await methods.call('settings.set', { settings: { audit: 'strict' } }, otherAdmin)
  await methods.call('budgets.set', { total: 7 }, otherAdmin)
  await methods.store.recordEvents([], [dead(GLOBEX)], [])
  expect((await methods.call('secrets.list', {})).secrets).toEqual([])
  expect((await methods.call('providers.list', {})).providers).toEqual([])
  expect((await methods.call('settings.get', {})).settings.audit).toEqual({
    value: 'default',
    from: 'default',
  })
  expect((await methods.call('budgets.get', {})).budget.budget_total).toBe(1_000_000)
  expect((await methods.call('deliveries.list', {})).deliveries).toEqual([])
  await expect(methods.call('secrets.delete', { name: 'theirs' })).rejects.toMatchObject({
    code: 'gateway.not_found',
  })
  expect(await methods.call('deliveries.replay', { ids: [dead(GLOBEX).id] })).toEqual({ replayed: 0 })
})

function dead(tenant: string) {
  return {
    id: '66666666-6666-4666-8666-666666666666',
    tenant,
    kind: 'hook',
    dedup_key: 'x',
    payload: '{}',
    due_at: 0,
    created_at: 0,
  }
}
