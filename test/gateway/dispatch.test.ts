import { describe, expect, test } from 'vitest'
import { badReceiver } from '../../src/testing/index.ts'
import { running } from './running.fixture.ts'

const bash = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })

describe('dispatch', () => {
  test('GC-24 no hooks allow, GC-26 the first block ends the chain in priority order', async () => {
    const ran: string[] = []
    const gateway = await running({
      functions: {
        low: () => void ran.push('low'),
        high: () => {
          ran.push('high')
          return { kind: 'block', reason: 'high says no' }
        },
      },
    })
    expect((await gateway.dispatch('pre_tool_use', bash('ls'))).body.decision).toEqual({ kind: 'allow' })
    await gateway.hook({
      event: 'pre_tool_use',
      handler_type: 'function',
      config: { name: 'low' },
      priority: 1,
    })
    const high = await gateway.hook({
      event: 'PreToolUse',
      handler_type: 'function',
      config: { name: 'high' },
      priority: 9,
    })
    const { body } = await gateway.dispatch('PreToolUse', bash('ls'))
    expect(body.decision).toMatchObject({ kind: 'block', reason: 'high says no', by: high })
    expect(ran).toEqual(['high'])
  })

  test('the answer carries the trace when asked, and only then', async () => {
    const gateway = await running({ functions: { pass: () => undefined } })
    await gateway.hook({
      event: 'pre_tool_use',
      handler_type: 'function',
      matcher: '^Write$',
      config: { name: 'pass' },
    })
    const traced = await gateway.dispatch('pre_tool_use', bash('ls'), { trace: true })
    expect(traced.body.decision.trace.hooks).toContainEqual(
      expect.objectContaining({ matched: false, because: 'matcher ^Write$ does not match "Bash"' }),
    )
    const plain = await gateway.dispatch('pre_tool_use', bash('ls'))
    expect(plain.body).toEqual({ event_id: plain.body.event_id, decision: { kind: 'allow' } })
  })

  test('an observe event is acknowledged with its delivery on disk, and its webhook is called once', async () => {
    const receiver = await badReceiver()
    const gateway = await running({ outbound: { allow: ['127.0.0.1'] } })
    const hookId = await gateway.hook({
      event: 'session_end',
      handler_type: 'http',
      config: { url: `${receiver.origin}/fine` },
    })
    const { status, body } = await gateway.dispatch(
      'session_end',
      { reason: 'exit' },
      { envelope: { session: 's' } },
    )
    expect(status).toBe(200)
    const history = () => gateway.call('GET', `/v1/executions?eventId=${body.event_id}`)
    const { body: page } = await gateway.until(history, (answer) => answer.body.executions?.length === 1)
    expect(page.executions[0]).toMatchObject({
      hook_id: hookId,
      event: 'session_end',
      session_id: 's',
      retry: 0,
    })
    expect(receiver.received).toHaveLength(1)
    await receiver.close()
  })

  test('the same event id is one event, another event with it is refused', async () => {
    let ran = 0
    const gateway = await running({ functions: { count: () => void ran++ } })
    await gateway.hook({ event: 'pre_tool_use', handler_type: 'function', config: { name: 'count' } })
    const envelope = { id: 'client-made-1' }
    const first = await gateway.dispatch('pre_tool_use', bash('ls'), { envelope })
    const again = await gateway.dispatch('pre_tool_use', bash('ls'), { envelope })
    expect(again.body).toEqual(first.body)
    expect(ran).toBe(1)
    const other = await gateway.dispatch('pre_tool_use', bash('rm'), { envelope })
    expect(other.status).toBe(409)
    expect(other.body.error.details.code).toBe('gateway.conflict')
  })

  test('an idempotency key is remembered across a restart', async () => {
    let ran = 0
    const functions = {
      count: () => {
        ran++
        return { kind: 'block', reason: `run ${ran}` }
      },
    }
    const first = await running({ functions })
    await first.hook({ event: 'pre_tool_use', handler_type: 'function', config: { name: 'count' } })
    const answer = await first.dispatch('pre_tool_use', bash('ls'), { idempotency_key: 'k' })
    await first.close()
    const second = await running({ functions, home: first.home })
    const repeated = await second.dispatch('pre_tool_use', bash('ls'), { idempotency_key: 'k' })
    expect(repeated.body).toEqual(answer.body)
    expect(ran).toBe(1)
  })

  test('GC-4 GC-6 a global hook is for every tenant, a hook for an agent only for it', async () => {
    const gateway = await running({
      edition: 'standard',
      functions: {
        no: () => ({ kind: 'block', reason: 'no' }),
        agent: () => ({ kind: 'block', reason: 'agent' }),
      },
    })
    const { body: tenant } = await gateway.call('POST', '/v1/tenants', { name: 'other' })
    await gateway.hook({
      event: 'subagent_start',
      handler_type: 'function',
      scope: 'global',
      config: { name: 'no' },
    })
    await gateway.hook({
      event: 'pre_tool_use',
      handler_type: 'function',
      scope: 'agent',
      agent_ids: ['reviewer'],
      config: { name: 'agent' },
    })
    const asOther = await gateway.call(
      'POST',
      '/v1/dispatch',
      { event: 'subagent_start', payload: {} },
      { 'x-hookhelm-tenant': tenant.tenant?.name ?? tenant.name ?? 'other' },
    )
    expect(asOther.body.decision).toMatchObject({ kind: 'block', reason: 'no' })
    const decide = async (agent: string) =>
      (await gateway.dispatch('pre_tool_use', bash('ls'), { envelope: { agent } })).body.decision.kind
    expect(await decide('reviewer')).toBe('block')
    expect(await decide('writer')).toBe('allow')
  })

  test('GC-6 higher priorities first, then the older hook, whatever its scope; what is off does not run', async () => {
    const ran: string[] = []
    const names = ['agent', 'tenant', 'global', 'high', 'off']
    const gateway = await running({
      functions: Object.fromEntries(names.map((name) => [name, () => void ran.push(name)])),
    })
    const hook = (name: string, more: object) =>
      gateway.hook({ event: 'pre_tool_use', handler_type: 'function', config: { name }, ...more })
    await hook('tenant', {})
    await hook('agent', { scope: 'agent', agent_ids: ['scribe'] })
    await hook('global', { scope: 'global' })
    await hook('high', { priority: 5 })
    await hook('off', { enabled: false })
    await gateway.dispatch('pre_tool_use', bash('ls'), { envelope: { agent: 'scribe' } })
    expect(ran).toEqual(['high', 'tenant', 'agent', 'global'])
  })

  test('GC-34 a chain deeper than three is closed and told', async () => {
    const gateway = await running({ functions: { pass: () => undefined } })
    await gateway.hook({ event: 'subagent_start', handler_type: 'function', config: { name: 'pass' } })
    const at = async (depth: number) =>
      (await gateway.dispatch('subagent_start', {}, { envelope: { depth } })).body.decision
    expect(await at(3)).toEqual({ kind: 'allow' })
    expect(await at(4)).toMatchObject({ kind: 'block', code: 'guard.depth' })
    expect(gateway.logged.map(({ name }) => name)).toContain('security.hook.loop_depth_exceeded')
  })

  test('no caller names its own tenant', async () => {
    let seen: unknown
    const gateway = await running({
      functions: {
        look: (_, context) => {
          seen = context.envelope.tenant
        },
      },
    })
    await gateway.hook({ event: 'pre_tool_use', handler_type: 'function', config: { name: 'look' } })
    await gateway.dispatch('pre_tool_use', bash('ls'), { envelope: { tenant: 'somebody else' } })
    expect(seen).toBe(gateway.defaultTenant)
  })
})

describe('the breaker', () => {
  test('4.8 #115 GC-40 five failures switch a hook off for good, GC-42 switching it on clears that', async () => {
    let isBroken = true
    const gateway = await running({
      functions: {
        shaky: () => {
          if (isBroken) throw new Error('upstream is down')
        },
      },
    })
    const hookId = await gateway.hook({
      event: 'pre_tool_use',
      handler_type: 'function',
      config: { name: 'shaky' },
    })
    for (let index = 0; index < 5; index++) await gateway.dispatch('pre_tool_use', bash('ls'))
    const { body } = await gateway.until(
      () => gateway.call('GET', `/v1/hooks/${hookId}`),
      (answer) => answer.body.hook.enabled === false,
    )
    expect(body.hook).toMatchObject({ enabled: false, disabled_reason: 'breaker', version: 2 })
    expect(gateway.logged).toContainEqual({
      name: 'security.hook.circuit_breaker',
      fields: expect.objectContaining({ hook_id: hookId, window_ms: 60_000, threshold: 5 }),
    })
    const closed = await gateway.dispatch('pre_tool_use', bash('ls'))
    expect(closed.body.decision).toMatchObject({ kind: 'block', code: 'guard.breaker' })
    isBroken = false
    await gateway.call('POST', `/v1/hooks/${hookId}/toggle`, { enabled: true })
    const open = await gateway.dispatch('pre_tool_use', bash('ls'))
    expect(open.body.decision).toEqual({ kind: 'allow' })
  })

  test('GC-43 a global hook that one tenant trips stays on for the others', async () => {
    const gateway = await running({
      edition: 'standard',
      functions: {
        picky: (_, { envelope }) => {
          if (envelope.session === 'bad') throw new Error('cannot read this')
        },
      },
    })
    await gateway.call('POST', '/v1/tenants', { name: 'other' })
    const hookId = await gateway.hook({
      event: 'pre_tool_use',
      handler_type: 'function',
      scope: 'global',
      config: { name: 'picky' },
    })
    for (let index = 0; index < 5; index++)
      await gateway.dispatch('pre_tool_use', bash('ls'), { envelope: { session: 'bad' } })
    await gateway.until(
      () => gateway.dispatch('pre_tool_use', bash('ls')),
      (answer) => answer.body.decision.code === 'guard.breaker',
    )
    const other = await gateway.call(
      'POST',
      '/v1/dispatch',
      { event: 'pre_tool_use', payload: bash('ls') },
      { 'x-hookhelm-tenant': 'other' },
    )
    expect(other.body.decision).toEqual({ kind: 'allow' })
    await gateway.call('POST', `/v1/hooks/${hookId}/toggle`, { enabled: true })
    expect((await gateway.dispatch('pre_tool_use', bash('ls'))).body.decision).toEqual({ kind: 'allow' })
  })
})

test('GC-32 a definition that can no longer be loaded closes its gate and shows in status', async () => {
  const first = await running({ functions: { gone: () => undefined } })
  await first.hook({ event: 'pre_tool_use', handler_type: 'function', config: { name: 'gone' } })
  await first.close()
  const second = await running({ home: first.home, functions: {} })
  const { body } = await second.dispatch('pre_tool_use', bash('ls'))
  expect(body.decision).toMatchObject({ kind: 'block' })
  expect(body.decision.reason).toContain('there is no function "gone"')
  const status = await second.call('GET', '/v1/status')
  expect(status.body.lines).toContainEqual(expect.objectContaining({ name: 'hooks', state: 'warn' }))
})

test('an answer after the deadline has a row of its own', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const gateway = await running({ functions: { slow: () => answered } })
  await gateway.hook({
    event: 'pre_tool_use',
    handler_type: 'function',
    config: { name: 'slow' },
    timeout_ms: 50,
    on_timeout: 'allow',
  })
  const { body } = await gateway.dispatch('pre_tool_use', bash('ls'))
  expect(body.decision).toMatchObject({ kind: 'allow', opened: [{ because: 'timeout' }] })
  answer()
  const rows = await gateway.until(
    () => gateway.call('GET', `/v1/executions?eventId=${body.event_id}`),
    (answer) => answer.body.executions.length === 2,
  )
  expect(rows.body.executions.map((row: { decision: string }) => row.decision).toSorted()).toEqual([
    'late',
    'timeout',
  ])
})

test('what the master scope allows is allowed at once, for hooks that are there already', async () => {
  const receiver = await badReceiver()
  const gateway = await running()
  await gateway.hook({
    event: 'pre_tool_use',
    handler_type: 'http',
    config: { url: `${receiver.origin}/allow` },
  })
  const decide = async () => (await gateway.dispatch('pre_tool_use', bash('ls'))).body.decision
  expect(await decide()).toMatchObject({ kind: 'block', code: 'outbound.private_address' })
  const allowed = await gateway.call('PATCH', '/v1/settings', {
    scope: 'gateway',
    settings: { allowed_hosts: ['127.0.0.1'] },
  })
  expect(allowed.status).toBe(200)
  expect(await decide()).toMatchObject({ kind: 'allow' })
  await receiver.close()
})

test('the error detail of a command is everything it printed', async () => {
  const gateway = await running()
  const long = 'x'.repeat(600)
  await gateway.hook({
    event: 'pre_tool_use',
    handler_type: 'command',
    config: { command: `echo ${long} >&2; exit 7` },
  })
  const { body } = await gateway.dispatch('pre_tool_use', bash('ls'))
  const { body: page } = await gateway.call('GET', `/v1/executions?eventId=${body.event_id}`)
  const [row] = page.executions
  expect(row.error.length).toBeLessThanOrEqual(256)
  const detail = await gateway.call('GET', `/v1/events/${body.event_id}/executions/${row.id}`)
  expect(JSON.stringify(detail.body)).toContain(long)
})

describe('repeats', () => {
  const blocking = { event: 'pre_tool_use', handler_type: 'function', config: { name: 'no' } }

  test('the same key from another agent, or at another depth, is not the same event', async () => {
    const gateway = await running({ functions: { no: () => ({ kind: 'block', reason: 'not bob' }) } })
    await gateway.hook({ ...blocking, scope: 'agent', agent_ids: ['bob'] })
    const as = (agent: string, more: object) =>
      gateway.dispatch('pre_tool_use', bash('ls'), { envelope: { agent, ...more }, idempotency_key: 'k' })
    expect((await as('alice', {})).body.decision).toEqual({ kind: 'allow' })
    expect((await as('bob', {})).body.error.details.code).toBe('gateway.conflict')
    expect((await as('alice', { depth: 9 })).body.error.details.code).toBe('gateway.conflict')
  })

  test('an id that comes a second time for another event hides nothing from the audit', async () => {
    const gateway = await running({ functions: { no: () => undefined }, settings: { audit: 'strict' } })
    await gateway.hook(blocking)
    const send = (command: string, idempotency_key: string) =>
      gateway.dispatch('pre_tool_use', bash(command), { envelope: { id: 'E' }, idempotency_key })
    const good = await send('good', 'ka')
    const evil = await send('EVIL', 'kb')
    expect(evil.body.event_id).not.toBe(good.body.event_id)
    for (const { body } of [good, evil]) {
      const { body: page } = await gateway.call('GET', `/v1/executions?eventId=${body.event_id}`)
      expect(page.executions).toHaveLength(1)
    }
  })

  test('who disconnects poisons no key', async () => {
    let release: () => void = () => {}
    const gateway = await running({
      functions: { no: () => new Promise<void>((resolve) => (release = resolve)) },
    })
    await gateway.hook(blocking)
    const body = { event: 'pre_tool_use', payload: bash('ls'), idempotency_key: 'k' }
    const gone = new AbortController()
    const first = fetch(`${gateway.url}/v1/dispatch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: gone.signal,
    })
    await gateway.until(
      async () => release,
      (found) => found.name !== 'release',
    )
    gone.abort()
    await expect(first).rejects.toThrow()
    const again = gateway.call('POST', '/v1/dispatch', body)
    release()
    expect((await again).body.decision).toEqual({ kind: 'allow' })
  })
})

test('the gates of a tenant that was deleted are closed', async () => {
  const gateway = await running({ edition: 'standard' })
  await gateway.call('POST', '/v1/tenants', { name: 'acme' })
  const ask = () =>
    gateway.call(
      'POST',
      '/v1/dispatch',
      { event: 'pre_tool_use', payload: bash('ls') },
      { 'x-hookhelm-tenant': 'acme' },
    )
  expect((await ask()).body.decision).toEqual({ kind: 'allow' })
  await gateway.call('DELETE', '/v1/tenants/acme')
  const { body } = await ask()
  expect(body.decision?.kind ?? body.error.code).not.toBe('allow')
})

test('whoever sends an event does not choose where a command runs', async () => {
  const gateway = await running()
  await gateway.hook({
    event: 'pre_tool_use',
    handler_type: 'command',
    config: { command: 'pwd >&2; exit 2' },
  })
  const { body } = await gateway.dispatch('pre_tool_use', bash('ls'), { envelope: { cwd: gateway.home } })
  expect(body.decision).toMatchObject({ kind: 'block', reason: process.cwd() })
})

test('a hook that is off stays off when it can no longer be loaded', async () => {
  const lite = await running()
  await lite.hook({
    event: 'pre_tool_use',
    handler_type: 'command',
    matcher: '^Bash$',
    enabled: false,
    config: { command: 'exit 0' },
  })
  await lite.close()
  const standard = await running({ home: lite.home, edition: 'standard' })
  expect((await standard.dispatch('pre_tool_use', bash('ls'))).body.decision).toEqual({ kind: 'allow' })
})

test('4.1 #12 an integer beyond 2⁵³ reaches a webhook digit by digit', async () => {
  const receiver = await badReceiver()
  const gateway = await running({ outbound: { allow: ['127.0.0.1'] } })
  await gateway.hook({
    event: 'session_end',
    handler_type: 'http',
    config: { url: `${receiver.origin}/allow` },
  })
  await gateway.call('POST', '/v1/dispatch', '{"event":"session_end","payload":{"n":9007199254740993}}')
  await gateway.until(
    async () => receiver.received,
    (received) => received.length === 1,
  )
  expect(receiver.received[0]?.body).toContain('9007199254740993')
  await receiver.close()
})

test('a delivery waits for a hook that is off for a moment', async () => {
  const receiver = await badReceiver()
  const gateway = await running({ outbound: { allow: ['127.0.0.1'] } })
  const hookId = await gateway.hook({
    event: 'session_end',
    handler_type: 'http',
    config: { url: `${receiver.origin}/429` },
  })
  await gateway.dispatch('session_end', {})
  const listed = () => gateway.call('GET', '/v1/deliveries')
  await gateway.until(listed, ({ body }) => body.deliveries[0]?.attempts === 1)
  await gateway.call('POST', `/v1/hooks/${hookId}/toggle`, { enabled: false })
  const off = await gateway.until(
    listed,
    ({ body }) => body.deliveries[0]?.last_error === 'the hook is switched off',
  )
  expect(off.body.deliveries[0]).toMatchObject({ state: 'waiting' })
  await receiver.close()
})

test('a receiver that hangs does not keep the gateway from ending, and its delivery is kept', async () => {
  const receiver = await badReceiver()
  const first = await running({ outbound: { allow: ['127.0.0.1'] } })
  const config = { url: `${receiver.origin}/hang` }
  await first.hook({ event: 'session_end', handler_type: 'http', timeout_ms: 10_000, config })
  await first.dispatch('session_end', {})
  await first.until(
    async () => receiver.received,
    (received) => received.length === 1,
  )
  await first.close()
  const again = await running({ home: first.home })
  const { body } = await again.call('GET', '/v1/deliveries')
  // A gateway that had waited for the receiver would have noted the timeout of the hook.
  expect(body.deliveries).toMatchObject([{ attempts: 1, state: 'leased', last_error: null }])
  await receiver.close()
})
