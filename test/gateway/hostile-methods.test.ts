import { describe, expect, test } from 'vitest'
import { MASTER_TENANT } from '../../src/access/tenant-tables.ts'
import { as, cellsOf, socketOf, tokenFor } from './doors.fixture.ts'
import { type Running, running } from './running.fixture.ts'

const MASK = '********'
const script = {
  event: 'pre_tool_use',
  handler_type: 'script',
  scope: 'tenant',
  config: { source: 'function handle() { return { decision: "allow" } }' },
}
const webhook = (config: object = {}) => ({
  event: 'pre_tool_use',
  handler_type: 'http',
  scope: 'tenant',
  config: { url: 'https://safety.example/check', ...config },
})
const refusedWith = (status: number, code: string) => ({ status, body: { error: { details: { code } } } })
const outOfScope = refusedWith(403, 'auth.scope')
const badRequest = refusedWith(400, 'gateway.request')

/** What somebody of this role can call. */
async function caller(gateway: Running, role: string) {
  const { token } = await tokenFor(gateway, { role })
  return (verb: string, path: string, body?: unknown) => gateway.call(verb, path, body, as(token))
}

const shown = async (gateway: Running, id: string) => (await gateway.call('GET', `/v1/hooks/${id}`)).body.hook

describe('hooks.test', () => {
  test('an operator runs no command of his own as the gateway', async () => {
    const gateway = await running({ functions: { no: () => ({ kind: 'block', reason: 'no' }) } })
    const call = await caller(gateway, 'operator')
    const command = { ...script, handler_type: 'command', config: { command: 'cat' } }
    const hookId = await gateway.hook(command)
    const asFunction = { ...script, handler_type: 'function', config: { name: 'no' } }
    for (const params of [
      { config: command },
      { config: webhook() },
      { config: asFunction },
      { hookId, config: { config: { command: 'id' } } },
      { hookId, config: asFunction },
      { hookId, config: { matcher: '^exec$' } },
    ])
      expect(await call('POST', '/v1/hooks/test', params)).toMatchObject(outOfScope)
    for (const params of [{ hookId }, { config: script }])
      expect(await call('POST', '/v1/hooks/test', params)).toMatchObject({
        status: 200,
        body: { result: { decision: 'allow' } },
      })
  })

  test('no tenant has the secrets of a global hook sent, whatever scope it says', async () => {
    const gateway = await running()
    const hookId = await gateway.hook({
      ...webhook({ headers: { 'X-Api': 'of-the-master' } }),
      scope: 'global',
    })
    for (const role of ['operator', 'admin', 'owner']) {
      const call = await caller(gateway, role)
      for (const params of [{ hookId }, { hookId, config: { scope: 'tenant' } }])
        expect(await call('POST', '/v1/hooks/test', params)).toMatchObject(outOfScope)
    }
    const own = await gateway.hook(script)
    const moved = { hookId: own, config: { scope: 'agent', agent_ids: ['a'] } }
    expect(await gateway.call('POST', '/v1/hooks/test', moved)).toMatchObject(badRequest)
  })
})

describe('hooks', () => {
  test('a locked one is switched, changed and deleted from the master scope only', async () => {
    const gateway = await running()
    const call = await caller(gateway, 'owner')
    const id = await gateway.hook({ ...script, locked: true })
    const updates = { locked: false, enabled: true }
    expect(await call('POST', `/v1/hooks/${id}/toggle`, { enabled: false })).toMatchObject(outOfScope)
    expect(await call('PATCH', `/v1/hooks/${id}`, { updates })).toMatchObject(outOfScope)
    expect(await call('DELETE', `/v1/hooks/${id}`)).toMatchObject(outOfScope)
    expect(await shown(gateway, id)).toMatchObject({ locked: true, enabled: true, version: 1 })
    expect((await gateway.call('DELETE', `/v1/hooks/${id}`)).status).toBe(200)
  })

  test('a kept secret goes to the address it was given for, and to no other path of it', async () => {
    const gateway = await running()
    const id = await gateway.hook(webhook({ headers: { Authorization: 'Bearer abcdefgh' } }))
    const config = { url: 'https://safety.example/echo', headers: { Authorization: MASK } }
    const refused = refusedWith(400, 'config.field')
    expect(await gateway.call('PATCH', `/v1/hooks/${id}`, { updates: { config } })).toMatchObject(refused)
    const test = { hookId: id, config: { config } }
    expect(await gateway.call('POST', '/v1/hooks/test', test)).toMatchObject(refused)
  })

  test('headers and parameters of the address are shown to nobody, and kept when sent back', async () => {
    const gateway = await running()
    const url = 'https://safety.example/check?sig=s3cret-sig&bare-s3cret&v=s3cret-v#top'
    const headers = { 'X-Vault': 's3cret-vault', 'X-Signature': 's3cret-signature', Accept: 'text/plain' }
    const id = await gateway.hook(webhook({ url, headers }))
    const list = await gateway.call('GET', '/v1/hooks')
    const hook = await shown(gateway, id)
    expect(JSON.stringify([list.body, hook])).not.toContain('s3cret')
    expect(hook.config).toEqual({
      url: `https://safety.example/check?sig=${MASK}&${MASK}&v=${MASK}#top`,
      headers: { 'X-Vault': MASK, 'X-Signature': MASK, Accept: 'text/plain' },
    })
    expect((await gateway.call('PATCH', `/v1/hooks/${id}`, { updates: { ...hook, name: 'x' } })).status).toBe(
      200,
    )
    const stored = cellsOf(gateway).find(
      ({ table, text }) => table === 'agent_hooks' && text.includes('safety.example'),
    )
    expect(JSON.parse(stored?.text ?? '{}').url).toBe(url)
    expect(stored?.text).not.toMatch(/s3cret-vault|s3cret-signature/)
    const partly = { url: `https://evil.example/?sig=${MASK}` }
    expect(await gateway.call('PATCH', `/v1/hooks/${id}`, { updates: { config: partly } })).toMatchObject(
      refusedWith(400, 'config.field'),
    )
  })

  test('an update by agent_id replaces the agents, or is refused', async () => {
    const gateway = await running()
    const id = await gateway.hook({ ...script, scope: 'agent', agent_ids: ['carol', 'erin'] })
    const update = (hookId: string, updates: object) =>
      gateway.call('PATCH', `/v1/hooks/${hookId}`, { updates })
    const dave = (await shown(gateway, await gateway.hook({ ...script, scope: 'agent', agent_id: 'dave' })))
      .agent_ids
    expect((await update(id, { agent_id: 'dave' })).status).toBe(200)
    expect((await shown(gateway, id)).agent_ids).toEqual(dave)
    expect((await update(id, { agent_id: null })).status).toBe(400)
    expect(await update(await gateway.hook(script), { agent_id: 'dave' })).toMatchObject(badRequest)
  })

  test('null for enabled switches nothing on', async () => {
    const gateway = await running()
    const id = await gateway.hook({ ...script, enabled: false })
    const updates = { enabled: null }
    expect(await gateway.call('PATCH', `/v1/hooks/${id}`, { updates })).toMatchObject(badRequest)
    expect(await shown(gateway, id)).toMatchObject({ enabled: false, version: 1 })
  })
})

describe('settings and providers', () => {
  test('of changes at the same time none is lost', async () => {
    const gateway = await running()
    const settings = {
      audit: 'strict',
      monthly_tokens: 7,
      default_model: 'm',
      breaker: { counts: ['block'] },
    }
    const answers = await Promise.all([
      ...Object.entries(settings).map(([name, value]) =>
        gateway.call('PATCH', '/v1/settings', { settings: { [name]: value } }),
      ),
      gateway.call('PUT', '/v1/providers/openai', { defaultModel: 'm' }),
      gateway.call('PUT', '/v1/providers/openai', { apiKey: 'sk-1' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const { body } = await gateway.call('GET', '/v1/settings')
    for (const [name, value] of Object.entries(settings))
      expect(body.settings[name]).toEqual({ value, from: 'tenant' })
    const { providers } = (await gateway.call('GET', '/v1/providers')).body
    expect(providers).toMatchObject([{ name: 'openai', defaultModel: 'm', apiKey: MASK }])
  })

  test('a tenant cannot loosen the audit of the gateway, nor have its own retention', async () => {
    const gateway = await running()
    const set = (settings: object, more: object = {}) =>
      gateway.call('PATCH', '/v1/settings', { settings, ...more })
    await set({ audit: 'strict' }, { scope: 'gateway' })
    const { body } = await set({ audit: 'default' })
    expect(body.settings.audit).toEqual({ value: 'strict', from: 'gateway' })
    expect(await set({ retention_days: 1 })).toMatchObject({
      status: 400,
      body: { error: { message: 'retention_days is a setting of the whole gateway' } },
    })
    expect((await set({ retention_days: 9 }, { scope: 'gateway' })).body.settings.retention_days.value).toBe(
      9,
    )
  })
})

test('a tenant is not named like an id', async () => {
  const gateway = await running({ edition: 'standard' })
  const { tenants } = (await gateway.call('GET', '/v1/tenants')).body
  const ids = [
    tenants[0].id,
    MASTER_TENANT,
    MASTER_TENANT.toUpperCase(),
    '00000000-0000-0000-0000-000000000000',
  ]
  for (const name of ids)
    expect(await gateway.call('POST', '/v1/tenants', { name })).toMatchObject(badRequest)
})

test.each(['-1', '99999999999999999999', 'x'])(
  'executions.tail refuses the cursor %s at every door',
  async (cursor) => {
    const gateway = await running()
    expect(await gateway.call('GET', `/v1/executions/tail?cursor=${cursor}`)).toMatchObject(badRequest)
    const socket = await socketOf(gateway)
    expect(await socket.call('executions.tail', { cursor })).toMatchObject({
      ok: false,
      error: { details: { code: 'gateway.request' } },
    })
  },
)
