import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type BadReceiver, badReceiver } from '../../src/testing/index.ts'
import { as, type Frame, socketOf, tokenFor } from './doors.fixture.ts'
import { exec } from './judge.fixture.ts'
import { shared } from './running.fixture.ts'

let receiver: BadReceiver
beforeAll(async () => {
  receiver = await badReceiver()
})
afterAll(() => receiver.close())

const gateway = shared(() => ({ outbound: { allow: ['127.0.0.1'] }, functions: { pass: () => undefined } }))
const http = (more: object = {}) => ({
  event: 'pre_tool_use',
  handler_type: 'http',
  scope: 'tenant',
  config: { url: `${receiver.origin}/allow` },
  ...more,
})

describe('the examples of the seed, to the letter', () => {
  test('GC-108 GC-111 GC-115 create answers the id, toggle switches it off', async () => {
    const socket = await socketOf(gateway())
    const created = await socket.send(
      JSON.parse(`{
        "type": "req", "id": "1", "method": "hooks.create",
        "params": {
          "event": "pre_tool_use",
          "handler_type": "http",
          "scope": "tenant",
          "name": "Safety webhook",
          "matcher": "^exec$",
          "config": { "url": "https://safety.internal/check" }
        }
      }`),
    )
    const { hookId } = created.payload
    expect(created).toEqual({ type: 'res', id: '1', ok: true, payload: { hookId } })
    const stored = await gateway().call('GET', `/v1/hooks/${hookId}`)
    expect(stored.body.hook).toMatchObject({
      enabled: true,
      timeout_ms: 5000,
      on_timeout: 'block',
      priority: 0,
      version: 1,
      source: 'user',
    })
    const toggled = await socket.send(
      JSON.parse(
        `{ "type": "req", "id": "2", "method": "hooks.toggle", "params": { "hookId": "${hookId}", "enabled": false } }`,
      ),
    )
    expect(toggled).toEqual({ type: 'res', id: '2', ok: true, payload: { hookId, enabled: false } })
    const after = await gateway().call('GET', `/v1/hooks/${hookId}`)
    expect(after.body.hook).toMatchObject({ enabled: false, version: 2 })
  })

  test('GC-117 4.10 #150 the dry run with cat allows, shows what it printed, and writes nothing', async () => {
    const counts = async () => {
      const rows = await gateway().call('GET', '/v1/executions?limit=200')
      const deliveries = await gateway().call('GET', '/v1/deliveries')
      const budget = await gateway().call('GET', '/v1/budget')
      return [rows.body.executions.length, deliveries.body.deliveries.length, budget.body.budget.remaining]
    }
    const before = await counts()
    const socket = await socketOf(gateway())
    const tested = await socket.send(
      JSON.parse(`{
        "type": "req", "id": "3", "method": "hooks.test",
        "params": {
          "config": { "event": "pre_tool_use", "handler_type": "command",
                      "scope": "tenant", "config": { "command": "cat" } },
          "sampleEvent": { "toolName": "exec", "toolInput": { "cmd": "ls" } }
        }
      }`),
    )
    expect(tested).toMatchObject({
      type: 'res',
      id: '3',
      ok: true,
      payload: { result: { decision: 'allow', matched: true, stderr: '', reason: expect.any(String) } },
    })
    const { stdout, durationMs } = tested.payload.result
    expect(JSON.parse(stdout)).toMatchObject({ tool_name: 'exec', tool_input: { cmd: 'ls' } })
    expect(durationMs).toBeGreaterThan(0)
    expect(await counts()).toEqual(before)
  })
})

describe('frames', () => {
  test('GC-108 the hello tells protocol 3 and every method', async () => {
    const socket = await socketOf(gateway())
    expect(socket.frames[0]).toMatchObject({ type: 'event', event: 'hello', payload: { protocol: 3 } })
    expect(socket.frames[0].payload.methods).toEqual(
      expect.arrayContaining(['dispatch', 'hooks.list', 'hooks.history', 'executions.tail', 'status']),
    )
    expect((await socket.call('connect')).payload).toEqual(socket.frames[0].payload)
  })

  test('GC-108 answers carry the id of their request, a number too, in whatever order they come', async () => {
    const socket = await socketOf(gateway())
    const [slow, quick] = await Promise.all([
      socket.send({ type: 'req', id: 7, method: 'hooks.list' }),
      socket.send({ type: 'req', id: 'b', method: 'budgets.get', params: {} }),
    ])
    expect(slow).toMatchObject({ id: 7, ok: true })
    expect(quick).toMatchObject({ id: 'b', ok: true })
  })

  test.each([
    ['no JSON', '{', null],
    ['a list', '[]', null],
    ['no id', '{"type":"req","method":"status"}', null],
    ['no method', '{"type":"req","id":"x"}', 'x'],
    ['another type', '{"type":"res","id":"y"}', 'y'],
    ['an unknown method', '{"type":"req","id":"z","method":"hooks.lst"}', 'z'],
  ])('GC-108 a frame with %s is answered with an error and the connection stays', async (_, text, id) => {
    const socket = await socketOf(gateway())
    socket.raw(text)
    const answer = await socket.frame((frame: Frame) => frame.ok === false)
    expect(answer).toMatchObject({ type: 'res', id, error: { code: 'INVALID_REQUEST', details: {} } })
    expect(answer.error.details.hint).not.toBe('')
    expect(await socket.call('status')).toMatchObject({ ok: true })
  })

  test('4.10 #134 an upgrade without a token is refused before it is one', async () => {
    const refused = await new Promise((resolve) => {
      const ws = new WebSocket(`${gateway().url.replace('http', 'ws')}/ws`)
      ws.on('unexpected-response', (_, response) => resolve(response.statusCode))
      ws.on('error', () => {})
    })
    expect(refused).toBe(401)
  })
})

describe('hooks over frames', () => {
  test('GC-110 the list is filtered by event, scope, agent and enabled', async () => {
    const socket = await socketOf(gateway())
    const make = async (more: object) => (await socket.call('hooks.create', http(more))).payload.hookId
    const tenant = await make({ event: 'subagent_start' })
    const agent = await make({ event: 'subagent_start', scope: 'agent', agent_ids: ['ada'] })
    const off = await make({ event: 'subagent_start', enabled: false })
    const ids = async (params: object) =>
      (await socket.call('hooks.list', params)).payload.hooks.map((hook: { id: string }) => hook.id)
    const event = 'SubagentStart'
    expect(await ids({ event })).toEqual([tenant, agent, off])
    expect(await ids({ event, scope: 'agent' })).toEqual([agent])
    expect(await ids({ event, agentId: 'ada' })).toEqual([tenant, agent, off])
    expect(await ids({ event, agentId: 'bob' })).toEqual([tenant, off])
    expect(await ids({ event, enabled: false })).toEqual([off])
    expect(await ids({ event: 'subagent_stop' })).toEqual([])
    for (const hookId of [tenant, agent, off]) await socket.call('hooks.delete', { hookId })
  })

  test('GC-112 GC-104 nobody forges id, tenant, source, version or author', async () => {
    const socket = await socketOf(gateway())
    const forged = {
      id: '11111111-1111-4111-8111-111111111111',
      tenant_id: '22222222-2222-4222-8222-222222222222',
      source: 'builtin',
      version: 99,
      created_by: 'somebody',
    }
    const { hookId } = (await socket.call('hooks.create', http(forged))).payload
    expect(hookId).not.toBe(forged.id)
    const read = async () => (await socket.call('hooks.get', { hookId })).payload.hook
    const made = await read()
    const own = { source: 'user', tenant_id: gateway().defaultTenant, created_by: 'admin' }
    expect(made).toMatchObject({ ...own, version: 1 })
    await socket.call('hooks.update', { hookId, updates: { ...forged, name: 'renamed' } })
    expect(await read()).toMatchObject({ ...own, id: hookId, name: 'renamed', version: 2 })
    const nothing = await socket.call('hooks.update', { hookId, updates: forged })
    expect(nothing).toMatchObject({ ok: false, error: { code: 'INVALID_REQUEST' } })
    expect((await socket.call('hooks.delete', { hookId })).payload).toEqual({ hookId })
  })

  test('GC-114 GC-116 an update is checked as a whole; what is not there is not found', async () => {
    const socket = await socketOf(gateway())
    const { hookId } = (await socket.call('hooks.create', http())).payload
    const bad = async (updates: object) => (await socket.call('hooks.update', { hookId, updates })).error
    expect(await bad({ timeout_ms: 10_001 })).toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'hook: timeout_ms 10001 exceeds max 10000',
    })
    expect(await bad({ matcher: '(' })).toMatchObject({ details: { code: 'match.syntax' } })
    expect(await bad({ handler_type: 'prompt', config: { prompt_template: 'x' } })).toMatchObject({
      details: { code: 'config.prompt_needs_matcher' },
    })
    expect((await socket.call('hooks.get', { hookId })).payload.hook.version).toBe(1)
    await socket.call('hooks.delete', { hookId })
    for (const [method, params] of [
      ['hooks.get', {}],
      ['hooks.update', { updates: { name: 'x' } }],
      ['hooks.toggle', { enabled: true }],
      ['hooks.delete', {}],
    ] as const)
      expect(await socket.call(method, { hookId, ...params })).toMatchObject({
        ok: false,
        error: { message: `hook not found: ${hookId}`, details: { code: 'gateway.not_found' } },
      })
  })

  test('GC-115 a toggle that does not say which way is off', async () => {
    const socket = await socketOf(gateway())
    const { hookId } = (await socket.call('hooks.create', http())).payload
    expect((await socket.call('hooks.toggle', { hookId })).payload).toEqual({ hookId, enabled: false })
    await socket.call('hooks.delete', { hookId })
  })

  test('GC-113 4.10 #143 a global hook needs the master scope, and an agent token edits nothing', async () => {
    const admin = await tokenFor(gateway(), { role: 'admin' })
    const agent = await tokenFor(gateway(), { role: 'agent' })
    const byAdmin = await socketOf({ url: gateway().url, token: admin.token })
    expect(await byAdmin.call('hooks.create', http({ scope: 'global' }))).toMatchObject({
      ok: false,
      error: { code: 'UNAUTHORIZED', details: { code: 'auth.scope' } },
    })
    const byAgent = await socketOf({ url: gateway().url, token: agent.token })
    expect(await byAgent.call('hooks.create', http())).toMatchObject({ error: { code: 'UNAUTHORIZED' } })
    const rest = await gateway().call('POST', '/v1/hooks', http(), as(agent.token))
    expect(rest).toMatchObject({ status: 403, body: { error: { details: { code: 'auth.scope' } } } })
    expect(await byAgent.call('dispatch', { event: 'stop', payload: {} })).toMatchObject({
      ok: true,
      payload: { decision: { kind: 'allow' } },
    })
  })
})

test('executions.tail goes on over a WebSocket until it is called off', async () => {
  const hook = { event: 'subagent_start', handler_type: 'function', config: { name: 'pass' } }
  const hookId = await gateway().hook(hook)
  const socket = await socketOf(gateway())
  const { subscription } = (await socket.call('executions.tail')).payload
  const sent = await socket.call('dispatch', { event: 'subagent_start', payload: {} })
  const told = await socket.frame(({ event }: Frame) => event === 'execution')
  expect(told).toMatchObject({
    subscription,
    payload: { hook_id: hookId, event_id: sent.payload.event_id, decision: 'allow' },
  })
  expect(await socket.call('executions.untail', { subscription })).toMatchObject({ ok: true })
  const { payload } = await socket.call('executions.tail', { cursor: told.cursor })
  const again = await socket.call('dispatch', { event: 'subagent_start', payload: {} })
  const next = await socket.frame(({ subscription: of }: Frame) => of === payload.subscription)
  expect(next.payload.event_id).toBe(again.payload.event_id)
  await gateway().call('DELETE', `/v1/hooks/${hookId}`)
})

test('GC-118 GC-91 history over a frame is the one of the API, and a builtin only switches', async () => {
  const hookId = await gateway().hook({
    event: 'pre_tool_use',
    handler_type: 'function',
    config: { name: 'pass' },
  })
  await gateway().dispatch('pre_tool_use', exec('ls'))
  const socket = await socketOf(gateway())
  const over = await gateway().until(
    () => socket.call('hooks.history', { hookId, limit: 5 }),
    ({ payload }) => payload.executions.length === 1,
  )
  expect(over.payload).toEqual((await gateway().call('GET', `/v1/executions?hookId=${hookId}&limit=5`)).body)
  const { hooks } = (await socket.call('hooks.list', { scope: 'global' })).payload
  const builtin = hooks.find(({ source }: { source: string }) => source === 'builtin')
  const message = 'builtin hooks are read-only except for the enabled toggle'
  const named = { hookId: builtin.id, updates: { name: 'mine' } }
  expect(await socket.call('hooks.update', named)).toMatchObject({ ok: false, error: { message } })
  expect(await socket.call('hooks.delete', { hookId: builtin.id })).toMatchObject({
    ok: false,
    error: { message },
  })
  await gateway().call('DELETE', `/v1/hooks/${hookId}`)
})
