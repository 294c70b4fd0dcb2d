import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ACME,
  admin,
  guard,
  master,
  openTestMethods,
  type TestMethods,
} from '../../test/gateway/test-methods.fixture.ts'
import { MASTER_TENANT } from '../access/tenant-tables.ts'
import { providerKeyPath, secretPath } from '../database/sealed-paths.ts'

let methods: TestMethods
beforeAll(async () => {
  methods = await openTestMethods()
})
afterAll(() => methods.close())

describe('secrets', () => {
  test('are set and named, never read', async () => {
    await methods.call('secrets.set', { name: 'api', value: 'first-value' })
    await methods.call('secrets.set', { name: 'api', value: 'second-value' })
    const listed = await methods.call('secrets.list', {})
    expect(listed.secrets).toEqual([{ name: 'api', updated_at: methods.clock.now() }])
    const [row] = await methods.store.listSecrets(ACME)
    expect(row?.sealed).toMatch(/^aes-gcm:/)
    expect(methods.parts.secrets.decrypt(row?.sealed ?? '', secretPath(ACME, 'api'))).toBe('second-value')
    expect(methods.changed.at(-1)).toBe(ACME)
    await methods.call('secrets.delete', { name: 'api' })
    await expect(methods.call('secrets.delete', { name: 'api' })).rejects.toMatchObject({
      code: 'gateway.not_found',
    })
    await expect(methods.call('secrets.set', { name: 'a b', value: 'x' })).rejects.toMatchObject({
      code: 'gateway.request',
    })
  })
})

describe('providers', () => {
  test('keys are sealed and shown as stars; what is left out stays', async () => {
    const { provider } = await methods.call('providers.set', {
      name: 'openai',
      apiKey: 'sk-secret',
      baseUrl: 'https://models.example/v1',
    })
    expect(provider).toMatchObject({ apiKey: '********', baseUrl: 'https://models.example/v1' })
    await methods.call('providers.set', { name: 'openai', defaultModel: 'gpt-5', apiKey: '********' })
    const listed = await methods.call('providers.list', {})
    expect(listed.providers).toMatchObject([{ name: 'openai', defaultModel: 'gpt-5', apiKey: '********' }])
    const [row] = await methods.store.listProviders(ACME)
    expect(methods.parts.secrets.decrypt(row?.sealed_key ?? '', providerKeyPath(ACME, 'openai'))).toBe(
      'sk-secret',
    )
  })

  test('a key is given again when the address changes', async () => {
    await expect(
      methods.call('providers.set', { name: 'openai', baseUrl: 'https://evil.example' }),
    ).rejects.toMatchObject({ code: 'gateway.request' })
    await expect(methods.call('providers.set', { name: 'openai', baseUrl: null })).rejects.toMatchObject({
      code: 'gateway.request',
    })
    await methods.call('providers.set', { name: 'openai', baseUrl: 'https://other.example', apiKey: 'sk-2' })
    for (const baseUrl of ['file:///etc/passwd', 'https://user:pass@host/'])
      await expect(methods.call('providers.set', { name: 'openai', baseUrl })).rejects.toMatchObject({
        code: 'config.url',
      })
    expect(await methods.call('providers.delete', { name: 'openai' })).toEqual({ name: 'openai' })
    expect((await methods.call('providers.list', {})).providers).toEqual([])
  })
})

describe('settings', () => {
  test('each value says where it comes from; null goes back', async () => {
    const { settings: before } = await methods.call('settings.get', {})
    expect(before.audit).toEqual({ value: 'default', from: 'default' })
    await methods.call('settings.set', { scope: 'gateway', settings: { audit: 'strict' } }, master)
    expect((await methods.call('settings.get', {})).settings.audit).toEqual({
      value: 'strict',
      from: 'gateway',
    })
    await methods.call('settings.set', { settings: { default_model: 'm', breaker: { counts: ['error'] } } })
    const breaker = { counts: ['block'] }
    const { settings: own } = await methods.call('settings.set', { settings: { breaker } })
    expect(own).toMatchObject({
      default_model: { value: 'm', from: 'tenant' },
      breaker: { value: breaker, from: 'tenant' },
    })
    expect(methods.parts.settings.of(ACME).breaker).toEqual(breaker)
    await methods.call('settings.set', { settings: { default_model: null } })
    expect((await methods.call('settings.get', {})).settings).not.toHaveProperty('default_model')
  })

  test('a wrong one is refused with the nearest name, and nothing is written', async () => {
    await expect(methods.call('settings.set', { settings: { audits: 'strict' } })).rejects.toMatchObject({
      code: 'gateway.setting',
      hint: 'Did you mean audit?',
    })
    await expect(
      methods.call(
        'settings.set',
        { settings: { monthly_tokens: 1, rate_limit: { per_second: 0 } } },
        master,
      ),
    ).rejects.toMatchObject({ code: 'gateway.setting' })
    expect(await methods.store.readSettings(ACME)).toEqual({ breaker: { counts: ['block'] } })
  })

  test('4.10 #143 what would reach others is for the master scope', async () => {
    for (const params of [
      { settings: { allowed_hosts: ['10.0.0.1'] } },
      { settings: { rate_limit: { per_second: 1_000_000 } } },
      { settings: { audit: 'strict' }, scope: 'gateway' },
    ])
      await expect(methods.call('settings.set', params)).rejects.toMatchObject({ code: 'auth.scope' })
    await expect(
      methods.call('settings.set', { settings: { allowed_hosts: ['10.0.0.1'] } }, master),
    ).rejects.toMatchObject({ code: 'gateway.setting' })
    await methods.call(
      'settings.set',
      { scope: 'gateway', settings: { allowed_hosts: ['10.0.0.1'] } },
      master,
    )
    expect(await methods.store.readSettings(MASTER_TENANT)).toMatchObject({ allowed_hosts: ['10.0.0.1'] })
  })
})

describe('budgets', () => {
  test('GC-75 a million tokens a month unless told; what was spent stays spent', async () => {
    const viewer = { ...admin, role: 'viewer' } as const
    const { budget } = await methods.call('budgets.get', {}, viewer)
    expect(budget).toMatchObject({ budget_total: 1_000_000, remaining: 1_000_000 })
    await methods.store.spendBudget(ACME, 400, 1_000_000, methods.clock.now())
    const raised = await methods.call('budgets.set', { total: 2_000_000 })
    expect(raised.budget).toMatchObject({ budget_total: 2_000_000, remaining: 1_999_600 })
    await expect(methods.call('budgets.set', { total: -1 })).rejects.toMatchObject({ code: 'config.range' })
  })
})

describe('deliveries', () => {
  const ids = ['77777777-7777-4777-8777-777777777771', '77777777-7777-4777-8777-777777777772']

  test('dead ones are listed and replayed', async () => {
    const now = methods.clock.now()
    const common = { tenant: ACME, kind: 'hook', payload: '{}', due_at: now, created_at: now }
    await methods.store.recordEvents(
      [],
      ids.map((id) => ({ ...common, id, dedup_key: id })),
      [],
    )
    const claimed = await methods.store.claimDeliveries({
      kinds: ['hook'],
      limit: 10,
      now,
      lease_ms: 1_000,
      worker: 'test',
    })
    await methods.store.endDeliveries(
      claimed.map(({ id, lease }) => ({ id, lease, end: 'dead', error: 'status 500' })),
      now,
    )
    const { deliveries } = await methods.call('deliveries.list', { state: 'dead' })
    expect(deliveries.map(({ id }) => id).toSorted()).toEqual(ids)
    expect((await methods.call('status', {})).deadDeliveries).toEqual({ count: 2, more: false })
    for (const params of [{}, { all: true, ids }])
      await expect(methods.call('deliveries.replay', params)).rejects.toMatchObject({
        code: 'gateway.request',
      })
    expect(await methods.call('deliveries.replay', { ids: [ids[0]] })).toEqual({ replayed: 1 })
    expect(methods.changed.at(-1)).toBe('deliveries')
    expect(await methods.call('deliveries.replay', { all: true })).toEqual({ replayed: 1 })
    expect((await methods.call('deliveries.list', { state: 'dead' })).deliveries).toEqual([])
  })
})

describe('status', () => {
  test('GC-119 names every hook that does not do its full work, and why', async () => {
    const make = async (more: object) => (await methods.call('hooks.create', { ...guard, ...more })).hookId
    const off = await make({ enabled: false })
    const shadow = await make({ shadow: true })
    const tripped = await make({})
    await methods.store.tripHook(ACME, tripped, 'timeout', methods.clock.now())
    const status = await methods.call('status', {}, { ...admin, role: 'viewer' })
    expect(status).toMatchObject({ ready: true, edition: 'lite', version: '0.0.0-test', tenant: ACME })
    expect(status.lines).toEqual([{ name: 'store', state: 'ok', text: 'answers' }])
    expect(status.hooks.off).toMatchObject([{ hookId: off, reason: 'switched off' }])
    expect(status.hooks.shadow).toMatchObject([{ hookId: shadow }])
    expect(status.hooks.tripped).toMatchObject([
      { hookId: tripped, reason: 'hook auto-disabled after repeated failures' },
    ])
  })

  test('one bad part makes it not ready', async () => {
    const bad = () => ({ name: 'versions', state: 'bad', text: 'nobody confirmed them' }) as const
    const status = await methods.call('status', {}, admin, { status: [...methods.parts.status, bad] })
    expect(status.ready).toBe(false)
  })
})

describe('audit.verify', () => {
  test('walks the chain, from the master scope', async () => {
    await expect(methods.call('audit.verify', {})).rejects.toMatchObject({ code: 'auth.scope' })
    expect(await methods.call('audit.verify', {}, master)).toMatchObject({ ok: true })
  })
})
