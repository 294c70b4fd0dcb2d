import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { as, tokenFor } from './doors.fixture.ts'
import { exec } from './judge.fixture.ts'
import { running, shared } from './running.fixture.ts'

const gateway = shared(() => ({
  edition: 'standard',
  functions: {
    no: () => ({ kind: 'block', reason: 'the secret policy of acme' }),
    pass: () => undefined,
  },
}))

type Ids = Readonly<Record<string, string>>

const tokens = { acme: '', globex: '' }
let acme: Ids = {}
/** What nobody has. */
const nothing: Ids = {
  hookId: randomUUID(),
  eventId: 'no-such-event',
  executionId: randomUUID(),
  tokenId: randomUUID(),
  tenantId: randomUUID(),
  name: 'google',
}

beforeAll(async () => {
  for (const name of ['acme', 'globex'] as const) {
    await gateway().call('POST', '/v1/tenants', { name })
    tokens[name] = (await tokenFor(gateway(), { role: 'owner', name: `owner of ${name}` }, name)).token
  }
  const asAcme = (verb: string, path: string, body?: unknown) =>
    gateway().call(verb, path, body, as(tokens.acme))
  const hook = { event: 'pre_tool_use', handler_type: 'function', scope: 'tenant', config: { name: 'no' } }
  const { hookId } = (await asAcme('POST', '/v1/hooks', { ...hook, name: 'of acme' })).body
  const envelope = { id: 'event-of-acme', session: 'session-of-acme' }
  await asAcme('POST', '/v1/dispatch', { event: 'pre_tool_use', payload: exec('ls'), envelope })
  const { body } = await gateway().until(
    () => asAcme('GET', '/v1/executions'),
    (answer) => answer.body.executions.length === 1,
  )
  await asAcme('PUT', '/v1/providers/openai', { apiKey: 'sk-of-acme', defaultModel: 'model-of-acme' })
  await asAcme('PUT', '/v1/secrets/openai', { value: 'secret-of-acme' })
  await asAcme('PUT', '/v1/budget', { total: 424_242 })
  const { tokenId } = (await asAcme('POST', '/v1/tokens', { name: 'of acme', role: 'viewer' })).body
  const found = await gateway().call('GET', '/v1/tenants/acme')
  acme = {
    hookId,
    eventId: 'event-of-acme',
    executionId: body.executions[0].id,
    tokenId,
    tenantId: found.body.tenant.id,
    name: 'openai',
  }
})

/** Bodies that reach as far as they can; a route without one is sent an empty one. */
const bodies = (ids: Ids): Readonly<Record<string, unknown>> => ({
  'hooks.update': { updates: { name: 'stolen' } },
  'hooks.toggle': { enabled: false },
  'hooks.test': { hookId: ids.hookId },
  'deliveries.replay': { ids: [ids.hookId] },
  'secrets.set': { value: 'mine' },
  'budgets.set': { total: 1 },
  dispatch: { event: 'pre_tool_use', payload: exec('ls'), envelope: { session: 'mine' } },
})

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
}

async function routes(): Promise<{ verb: string; path: string; operation: Operation }[]> {
  const { body } = await gateway().call('GET', '/v1/openapi.json')
  return Object.entries<Record<string, Operation>>(body.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({ verb: verb.toUpperCase(), path, operation })),
  )
}

test('4.10 #142 GC-106 on every route the things of another tenant answer as if they were not there', async () => {
  const all = await routes()
  expect(all.length).toBeGreaterThan(30)
  const before = await ofAcme()
  for (const { verb, path, operation } of all) {
    const ask = async (ids: Ids) => {
      const address = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'unknown')
      const query = (operation.parameters ?? []).flatMap(({ name, in: place }) =>
        place === 'query' && ids[name] ? [[name, ids[name] ?? '']] : [],
      )
      const body = bodies(ids)[operation.operationId] ?? {}
      const hasBody = verb !== 'GET' && verb !== 'DELETE'
      const url = `${address}?${new URLSearchParams(Object.fromEntries(query))}`.replace(/\?$/, '')
      return gateway().call(verb, url, hasBody ? body : undefined, as(tokens.globex))
    }
    const [absent, foreign] = [await ask(nothing), await ask(acme)]
    const told = JSON.stringify(foreign.body)
    const same = Object.keys(nothing).reduce(
      (text, name) => (nothing[name] ? text.replaceAll(acme[name] ?? '', nothing[name] ?? '') : text),
      told,
    )
    const stable = (text: string) => text.replace(/\d+|"(?:event_id|tokenId|token)":"[^"]*"/g, '#')
    expect([operation.operationId, foreign.status]).toEqual([operation.operationId, absent.status])
    if (foreign.status >= 400)
      expect([operation.operationId, stable(same)]).toEqual([
        operation.operationId,
        stable(JSON.stringify(absent.body)),
      ])
    expect([operation.operationId, same]).not.toEqual([
      operation.operationId,
      expect.stringMatching(/of.acme|424242/),
    ])
  }
  expect(await ofAcme()).toEqual(before)
})

/** Everything that another tenant could have read or changed. */
async function ofAcme(): Promise<unknown[]> {
  const paths = ['hooks', 'executions', 'sessions', 'budget', 'tokens', 'secrets', 'providers', 'settings']
  return Promise.all(
    paths.map(async (path) => (await gateway().call('GET', `/v1/${path}`, undefined, as(tokens.acme))).body),
  )
}

test('4.10 #142 a cursor of one tenant shows another only its own rows', async () => {
  const tail = (token: string, cursor = '') =>
    gateway().call('POST', '/v1/call/executions.tail', { cursor }, as(token))
  const { nextCursor } = (await tail(tokens.acme)).body
  const event = { event: 'pre_tool_use', payload: exec('ls') }
  await gateway().call('POST', '/v1/dispatch', event, as(tokens.acme))
  await gateway().until(
    () => tail(tokens.acme, nextCursor),
    ({ body }) => body.executions.length === 1,
  )
  expect((await tail(tokens.globex, nextCursor)).body.executions).toEqual([])
})

test('4.10 #142 a hook of one tenant never runs for another', async () => {
  const event = { event: 'pre_tool_use', payload: exec('ls') }
  const decide = async (token: string) =>
    (await gateway().call('POST', '/v1/dispatch', event, as(token))).body.decision.kind
  expect([await decide(tokens.acme), await decide(tokens.globex)]).toEqual(['block', 'allow'])
})

test('X-Hookhelm-Tenant lets a master caller work for any tenant, and nobody else', async () => {
  const list = (token: string, tenant: string) =>
    gateway().call('GET', '/v1/hooks?scope=tenant', undefined, { ...as(token), 'x-hookhelm-tenant': tenant })
  const byName = await list(gateway().token, 'acme')
  expect(byName.body.hooks).toMatchObject([{ id: acme.hookId, tenant_id: acme.tenantId }])
  expect((await list(gateway().token, acme.tenantId ?? '')).body).toEqual(byName.body)
  expect((await list(gateway().token, 'nobody')).status).toBe(404)
  expect((await list(tokens.globex, 'globex')).status).toBe(200)
  const [there, absent] = [await list(tokens.globex, 'acme'), await list(tokens.globex, 'nobody')]
  expect(there).toMatchObject({ status: 403, body: { error: { details: { code: 'auth.scope' } } } })
  expect(absent.body).toEqual(there.body)
})

test('GC-4 GC-106 4.10 #143 a global hook is seen by every tenant, changed by none, and made in the master scope', async () => {
  const hook = {
    event: 'subagent_start',
    handler_type: 'function',
    scope: 'global',
    config: { name: 'pass' },
  }
  const refused = await gateway().call('POST', '/v1/hooks', hook, as(tokens.globex))
  expect(refused).toMatchObject({ status: 403, body: { error: { code: 'UNAUTHORIZED' } } })
  const hookId = await gateway().hook(hook)
  const path = `/v1/hooks/${hookId}`
  const seen = await gateway().call('GET', path, undefined, as(tokens.globex))
  expect(seen.body.hook).toMatchObject({ scope: 'global', tenant_id: '0193a5b0-7000-7000-8000-000000000001' })
  for (const [verb, at, body] of [
    ['PATCH', path, { updates: { enabled: false } }],
    ['POST', `${path}/toggle`, { enabled: false }],
    ['DELETE', path, undefined],
  ] as const)
    expect((await gateway().call(verb, at, body, as(tokens.globex))).status).toBe(404)
  expect((await gateway().call('GET', path)).body.hook.enabled).toBe(true)
  await gateway().call('DELETE', path)
})

test('a tenant that is deleted takes its tokens and everything else with it', async () => {
  await gateway().call('POST', '/v1/tenants', { name: 'short-lived' })
  const { token } = await tokenFor(gateway(), { role: 'owner' }, 'short-lived')
  expect((await gateway().call('GET', '/v1/hooks', undefined, as(token))).status).toBe(200)
  await gateway().call('DELETE', '/v1/tenants/short-lived')
  expect((await gateway().call('GET', '/v1/hooks', undefined, as(token))).status).toBe(401)
})

test('4.2 #33 GC-17 GC-18 Standard switches off the commands that Lite left, refuses new ones, and Lite serves one tenant', async () => {
  const lite = await running()
  const second = await lite.call('POST', '/v1/tenants', { name: 'second' })
  expect(second).toMatchObject({ status: 409, body: { error: { details: { code: 'gateway.edition' } } } })
  const command = { event: 'pre_tool_use', handler_type: 'command', config: { command: 'exit 2' } }
  const hookId = await lite.hook(command)
  expect((await lite.dispatch('pre_tool_use', exec('ls'))).body.decision.kind).toBe('block')
  await lite.close()
  const standard = await running({ home: lite.home, edition: 'standard' })
  const { body } = await standard.call('GET', `/v1/hooks/${hookId}`)
  expect(body.hook).toMatchObject({ enabled: false, disabled_reason: 'edition' })
  expect(standard.logged.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['hooks.command_hook_auto_disabled', 'hooks.command_migration_complete']),
  )
  // Switched on by hand it still does not run: the gate closes instead.
  await standard.call('POST', `/v1/hooks/${hookId}/toggle`, { enabled: true })
  const { decision } = (await standard.dispatch('pre_tool_use', exec('ls'))).body
  expect(decision.kind).toBe('block')
  expect(decision.reason).toContain('standard edition runs no command hooks')
  expect((await standard.call('POST', '/v1/tenants', { name: 'second' })).status).toBe(200)
})
