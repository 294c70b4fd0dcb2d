import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ACME,
  admin,
  guard,
  master,
  openTestMethods,
  otherAdmin,
  type TestMethods,
} from '../../test/gateway/test-methods.fixture.ts'
import { agentId } from '../access/agent-id.ts'
import { MASTER_TENANT } from '../access/tenant-tables.ts'

let methods: TestMethods
beforeAll(async () => {
  methods = await openTestMethods()
})
afterAll(() => methods.close())

const create = async (hook: object, caller = admin) =>
  (await methods.call('hooks.create', hook, caller)).hookId
const stored = async (id: string, caller = admin) =>
  (await methods.call('hooks.get', { hookId: id }, caller)).hook
const refused = (hook: object, caller = admin) => expect(methods.call('hooks.create', hook, caller)).rejects

describe('hooks.create', () => {
  test('GC-111 GC-12 GC-13 the example of the text makes a hook that is on', async () => {
    const id = await create(guard)
    expect(await stored(id)).toMatchObject({
      ...guard,
      tenant_id: ACME,
      enabled: true,
      version: 1,
      source: 'user',
      created_by: 'ada',
      priority: 0,
      timeout_ms: 5_000,
      on_timeout: 'block',
      agent_ids: [],
    })
    expect(methods.changed.at(-1)).toBe(ACME)
  })

  test.each(['handler_type', 'event', 'scope'])(
    'GC-111 without %s it says what is required',
    async (field) => {
      for (const value of [undefined, '']) {
        const { [field]: _, ...rest }: Record<string, unknown> = guard
        await refused(value === undefined ? rest : { ...rest, [field]: value }).toMatchObject({
          code: 'gateway.request',
          message: 'handler_type, event, and scope are required',
        })
      }
    },
  )

  test('GC-112 what only the gateway sets is dropped without a word', async () => {
    const forged = {
      id: '33333333-3333-4333-8333-333333333333',
      tenant_id: MASTER_TENANT,
      source: 'builtin',
      version: 99,
      created_by: 'god',
      created_at: 1,
      updated_at: 1,
      disabled_reason: 'breaker',
    }
    const id = await create({ ...guard, ...forged })
    expect(id).not.toBe(forged.id)
    const hook = await stored(id)
    expect(hook).toMatchObject({ tenant_id: ACME, source: 'user', version: 1, created_by: 'ada' })
    expect(hook.created_at).toBe(methods.clock.now())
    expect(hook).not.toHaveProperty('disabled_reason')
  })

  test('an unknown field is refused with the nearest one', async () => {
    await refused({ ...guard, tiemout_ms: 5 }).toMatchObject({
      code: 'gateway.request',
      hint: 'Did you mean timeout_ms?',
    })
  })

  test('GC-1 GC-9 an event goes by any of its names, and is stored by its own', async () => {
    expect((await stored(await create({ ...guard, event: 'PreToolUse' }))).event).toBe('pre_tool_use')
    await refused({ ...guard, event: 'pre_tool_yuse' }).toMatchObject({
      code: 'input.unknown_event',
      message: 'unknown event "pre_tool_yuse"',
      hint: 'did you mean pre_tool_use?',
    })
  })

  test('GC-8 the event is looked at before scope, handler, timeout and matcher', async () => {
    const worst = { event: 'x', scope: 'x', handler_type: 'x', timeout_ms: -1, matcher: '(', if_expr: '(' }
    const steps = [
      ['input.unknown_event', { event: 'stop' }],
      ['config.field', { scope: 'tenant' }],
      ['config.unknown_handler', { handler_type: 'http', config: guard.config }],
      ['config.range', { timeout_ms: 1 }],
      ['match.syntax', { matcher: 'a' }],
      ['match.cel_syntax', { if_expr: 'true' }],
    ] as const
    let hook: object = worst
    for (const [code, mended] of steps) {
      await refused(hook).toMatchObject({ code })
      hook = { ...hook, ...mended }
    }
    await create(hook)
  })

  test('GC-4 GC-9 GC-113 an unknown scope is refused; a global hook is made in the master scope only', async () => {
    await refused({ ...guard, scope: 'galaxy' }).toMatchObject({ code: 'config.field' })
    await refused({ ...guard, scope: 'global' }).toMatchObject({ code: 'auth.scope' })
    const id = await create({ ...guard, scope: 'global' }, master)
    expect(await stored(id)).toMatchObject({ scope: 'global', tenant_id: MASTER_TENANT })
    expect(methods.changed.at(-1)).toBe(MASTER_TENANT)
    await methods.call('hooks.delete', { hookId: id }, master)
  })

  test('GC-5 a tenant hook needs a real tenant, an agent hook an agent', async () => {
    const nowhere = { ...master, tenant: MASTER_TENANT }
    for (const scope of ['tenant', 'agent'])
      await refused({ ...guard, scope }, nowhere).toMatchObject({ code: 'gateway.request' })
    await refused({ ...guard, scope: 'agent' }).toMatchObject({ code: 'config.field' })
    await refused({ ...guard, scope: 'agent', agent_ids: [] }).toMatchObject({ code: 'config.field' })
    const { agent_ids } = await stored(await create({ ...guard, scope: 'agent', agent_id: 'scribe' }))
    expect(agent_ids).toEqual([agentId(ACME, 'scribe')])
  })

  test('GC-7 agents go by id or name, are stored by id, and only an agent hook has them', async () => {
    const id = '44444444-4444-4444-8444-44444444ABCD'
    const agent = await stored(await create({ ...guard, scope: 'agent', agent_ids: [id, 'scribe'] }))
    expect(agent.agent_ids).toEqual([id.toLowerCase(), agentId(ACME, 'scribe')])
    expect(agentId(ACME, 'scribe')).not.toBe(agentId(otherAdmin.tenant, 'scribe'))
    expect((await stored(await create({ ...guard, agent_ids: ['scribe'] }))).agent_ids).toEqual([])
    const { hooks } = await methods.call('hooks.list', { agentId: 'scribe', scope: 'agent' })
    expect(hooks.map((hook) => hook.id)).toContain(agent.id)
  })

  test('GC-10 a timeout is 5000 unless told, at most 10000 and never negative', async () => {
    expect((await stored(await create({ ...guard, timeout_ms: 0 }))).timeout_ms).toBe(5_000)
    expect((await stored(await create({ ...guard, timeout_ms: 10_000 }))).timeout_ms).toBe(10_000)
    await refused({ ...guard, timeout_ms: 10_001 }).toMatchObject({
      code: 'config.range',
      message: 'hook: timeout_ms 10001 exceeds max 10000',
    })
    await refused({ ...guard, timeout_ms: -1 }).toMatchObject({ code: 'config.range' })
  })

  test.each([
    ['user_prompt_submit', 'block'],
    ['pre_tool_use', 'block'],
    ['subagent_start', 'block'],
    ['session_start', 'allow'],
    ['post_tool_use', 'allow'],
    ['stop', 'allow'],
    ['subagent_stop', 'allow'],
  ])('GC-1 GC-11 on %s a timeout means %s', async (event, policy) => {
    const { matcher: _, ...rest } = guard
    expect((await stored(await create({ ...rest, event }))).on_timeout).toBe(policy)
    expect((await stored(await create({ ...rest, event, on_timeout: 'allow' }))).on_timeout).toBe('allow')
  })

  test('GC-11 ask and defer are no policies', async () => {
    for (const on_timeout of ['ask', 'defer'])
      await refused({ ...guard, on_timeout }).toMatchObject({ code: 'gateway.request' })
  })

  test('GC-14 a prompt hook needs a condition and a template', async () => {
    const prompt = { ...guard, handler_type: 'prompt', config: { prompt_template: 'Evaluate safety.' } }
    await create(prompt)
    const { matcher: _, ...bare } = prompt
    await refused(bare).toMatchObject({
      code: 'config.prompt_needs_matcher',
      message: 'hook: prompt handler requires a matcher or if_expr (runaway-cost guard)',
    })
    await create({ ...bare, if_expr: 'tool_name == "exec"' })
    await create({ ...bare, match: { names: ['exec'] } })
    for (const config of [{}, { prompt_template: '' }, { prompt_template: ' ' }])
      await refused({ ...prompt, config }).toMatchObject({
        code: 'config.field',
        at: 'config.prompt_template',
      })
  })

  test('GC-15 a script must be there, not too long, and compile', async () => {
    const script = (source: unknown) => ({ ...guard, handler_type: 'script', config: { source } })
    await create(script('function handle() { return { decision: "allow" } }'))
    await refused(script('')).toMatchObject({ code: 'config.field' })
    await refused(script(`// ${'x'.repeat(32_768)}`)).toMatchObject({ code: 'config.range' })
    await refused(script('function handle() { undeclared = 010 }')).toMatchObject({ code: 'script.compile' })
    await refused(script('var a\nfunction (')).toMatchObject({
      code: 'script.compile',
      at: 'config.source:2',
    })
  })

  test('GC-16 a matcher or condition that does not compile is refused, and the message is about it alone', async () => {
    await refused({ ...guard, matcher: '(' }).toMatchObject({
      code: 'match.syntax',
      message: expect.not.stringContaining('hook'),
    })
    await refused({ ...guard, matcher: '(?=a)' }).toMatchObject({ code: 'match.unsupported' })
    await refused({ ...guard, if_expr: 'tool_name ==' }).toMatchObject({ code: 'match.cel_syntax' })
    await refused({ ...guard, if_expr: 'size(tool_name)' }).toMatchObject({ code: 'match.cel_type' })
  })

  test.each([
    ['command', { command: 'cat' }],
    ['http', guard.config],
    ['prompt', { prompt_template: 'Judge.' }],
    ['script', { source: 'function handle() { return { decision: "allow" } }' }],
  ])('GC-2 there is a handler for %s', async (handler_type, config) => {
    expect(await stored(await create({ ...guard, handler_type, config }))).toMatchObject({ handler_type })
  })

  test('GC-17 GC-119 command hooks are for the lite edition', async () => {
    const command = { ...guard, handler_type: 'command', config: { command: 'cat' } }
    await create(command)
    await expect(methods.call('hooks.create', command, admin, { edition: 'standard' })).rejects.toMatchObject(
      {
        code: 'handler.not_in_edition',
        message: 'command-type hooks are only available on Lite edition',
      },
    )
    for (const scope of ['global', 'agent'])
      await expect(
        methods.call('hooks.create', { ...command, scope, agent_ids: ['a'] }, master, {
          edition: 'standard',
        }),
      ).rejects.toMatchObject({ code: 'handler.not_in_edition' })
    for (const [handler_type, config] of [
      ['http', guard.config],
      ['prompt', { prompt_template: 'Judge.' }],
      ['script', { source: 'function handle() { return { decision: "allow" } }' }],
    ] as const)
      await methods.call('hooks.create', { ...guard, handler_type, config }, admin, { edition: 'standard' })
  })

  test('locked hooks belong to the master scope', async () => {
    await refused({ ...guard, locked: true }).toMatchObject({ code: 'auth.scope' })
    expect((await stored(await create({ ...guard, locked: true }, master))).locked).toBe(true)
  })
})

describe('hooks.update', () => {
  const update = (hookId: string, updates: object, caller = admin) =>
    methods.call('hooks.update', { hookId, updates }, caller)

  test('GC-104 GC-114 the merged hook is checked, and its version goes up by one', async () => {
    const id = await create(guard)
    const before = methods.changed.length
    await update(id, { matcher: '^shell$', priority: 7 })
    expect(methods.changed.slice(before)).toEqual([ACME])
    expect(await stored(id)).toMatchObject({ matcher: '^shell$', priority: 7, name: guard.name, version: 2 })
    await expect(update(id, { matcher: '(' })).rejects.toMatchObject({ code: 'match.syntax' })
    await expect(update(id, { timeout_ms: 20_000 })).rejects.toMatchObject({
      message: 'hook: timeout_ms 20000 exceeds max 10000',
    })
    await expect(update(id, { mathcer: 'a' })).rejects.toMatchObject({ hint: 'Did you mean matcher?' })
    expect((await stored(id)).version).toBe(2)
  })

  test('null takes a field away', async () => {
    const id = await create(guard)
    await update(id, { matcher: null })
    expect(await stored(id)).not.toHaveProperty('matcher')
  })

  test('GC-112 GC-114 nothing to change, and only what is not theirs to change, is refused', async () => {
    const id = await create(guard)
    for (const updates of [{}, { version: 9, source: 'builtin', tenant_id: MASTER_TENANT }])
      await expect(update(id, updates)).rejects.toMatchObject({ code: 'gateway.request' })
    await update(id, { name: 'x', version: 9, created_by: 'god' })
    expect(await stored(id)).toMatchObject({ name: 'x', version: 2, created_by: 'ada' })
  })

  test('GC-114 an unknown hook is not found', async () => {
    for (const id of ['nonsense', '55555555-5555-4555-8555-555555555555'])
      await expect(update(id, { name: 'x' })).rejects.toMatchObject({
        code: 'gateway.not_found',
        message: `hook not found: ${id}`,
      })
  })

  test("a hook's scope cannot change to or from global", async () => {
    const own = await create(guard, master)
    await expect(update(own, { scope: 'global' }, master)).rejects.toMatchObject({ code: 'gateway.request' })
    const global = await create({ ...guard, scope: 'global' }, master)
    await expect(update(global, { scope: 'tenant' }, master)).rejects.toMatchObject({
      code: 'gateway.request',
    })
    await methods.call('hooks.delete', { hookId: global }, master)
  })

  test('a change that met another one is tried again on what is there now', async () => {
    const id = await create(guard)
    let met = 0
    const store: typeof methods.store = {
      ...methods.store,
      async updateHook(...args) {
        if (met++ === 0) await update(id, { priority: 3 })
        return methods.store.updateHook(...args)
      },
    }
    await methods.call('hooks.update', { hookId: id, updates: { name: 'second' } }, admin, { store })
    expect(await stored(id)).toMatchObject({ name: 'second', priority: 3, version: 3 })
    const always: typeof methods.store = { ...methods.store, updateHook: async () => 'stale' }
    await expect(
      methods.call('hooks.update', { hookId: id, updates: { name: 'x' } }, admin, { store: always }),
    ).rejects.toMatchObject({ code: 'gateway.conflict' })
  })

  test('GC-42 switching on by an update clears the breaker; other updates leave it tripped', async () => {
    const id = await create(guard)
    await methods.store.tripHook(ACME, id, 'timeout', methods.clock.now())
    await update(id, { name: 'mended' })
    expect(await stored(id)).toMatchObject({ enabled: false, disabled_reason: 'breaker' })
    await update(id, { enabled: true })
    const hook = await stored(id)
    expect(hook.enabled).toBe(true)
    expect(hook).not.toHaveProperty('disabled_reason')
  })
})

test('GC-43 a global hook that one tenant tripped is on again for it once the master scope switches it on', async () => {
  for (const again of [
    (hookId: string) => methods.call('hooks.toggle', { hookId, enabled: true }, master),
    (hookId: string) => methods.call('hooks.update', { hookId, updates: { enabled: true } }, master),
  ]) {
    const id = await create({ ...guard, scope: 'global' }, master)
    await methods.store.tripHook(ACME, id, 'timeout', methods.clock.now())
    const tripped = async () => (await methods.call('status', {})).hooks.tripped.map(({ hookId }) => hookId)
    expect(await tripped()).toContain(id)
    await again(id)
    expect(await tripped()).not.toContain(id)
    await methods.call('hooks.delete', { hookId: id }, master)
  }
})

describe('hooks.toggle and hooks.delete', () => {
  test('GC-115 toggle answers what it did; left out, enabled means off', async () => {
    const id = await create(guard)
    expect(await methods.call('hooks.toggle', { hookId: id })).toEqual({ hookId: id, enabled: false })
    expect((await stored(id)).enabled).toBe(false)
    expect(await methods.call('hooks.toggle', { hookId: id, enabled: true })).toEqual({
      hookId: id,
      enabled: true,
    })
    expect((await stored(id)).enabled).toBe(true)
    await expect(methods.call('hooks.toggle', { hookId: 'no such hook' })).rejects.toMatchObject({
      code: 'gateway.not_found',
    })
  })

  test('a hook is also found by its name, unless several have it', async () => {
    const id = await create({ ...guard, name: 'the only one' })
    expect(await methods.call('hooks.get', { hookId: 'the only one' })).toMatchObject({ hook: { id } })
    expect(await methods.call('hooks.toggle', { hookId: 'the only one' })).toEqual({
      hookId: id,
      enabled: false,
    })
    expect(await methods.call('hooks.update', { hookId: 'the only one', updates: { priority: 3 } })).toEqual({
      hookId: id,
    })
    await create({ ...guard, name: 'the only one' })
    await expect(methods.call('hooks.delete', { hookId: 'the only one' })).rejects.toMatchObject({
      code: 'gateway.request',
      hint: expect.stringContaining(id),
    })
    expect(await methods.call('hooks.delete', { hookId: id })).toEqual({ hookId: id })
  })

  test('GC-115 toggle does not check the definition: an old hook can be switched off', async () => {
    const command = { ...guard, handler_type: 'command', config: { command: 'cat' } }
    const id = await create(command)
    await methods.call('hooks.toggle', { hookId: id, enabled: false }, admin, { edition: 'standard' })
    expect((await stored(id)).enabled).toBe(false)
  })

  test('GC-104 a hook that is switched or deleted is loaded anew', async () => {
    const id = await create(guard)
    const before = methods.changed.length
    await methods.call('hooks.toggle', { hookId: id, enabled: false })
    await methods.call('hooks.delete', { hookId: id })
    expect(methods.changed.slice(before)).toEqual([ACME, ACME])
  })

  test('GC-116 delete answers the id, and the hook is gone', async () => {
    const id = await create(guard)
    expect(await methods.call('hooks.delete', { hookId: id })).toEqual({ hookId: id })
    await expect(stored(id)).rejects.toMatchObject({ code: 'gateway.not_found' })
    await expect(methods.call('hooks.delete', { hookId: id })).rejects.toMatchObject({
      code: 'gateway.not_found',
    })
  })
})

describe('hooks.list', () => {
  test('GC-110 filters by event, scope and state; nobody has an empty list', async () => {
    const id = await create({ ...guard, event: 'session_end', enabled: false })
    const ids = async (params: object) =>
      (await methods.call('hooks.list', params)).hooks.map((hook) => hook.id)
    expect(await ids({ event: 'SessionEnd' })).toEqual([id])
    expect(await ids({ event: 'session_end', enabled: true })).toEqual([])
    expect(await ids({ enabled: false })).toContain(id)
    expect(await ids({ scope: 'agent' })).not.toContain(id)
    await expect(methods.call('hooks.list', { scoop: 'agent' })).rejects.toMatchObject({
      code: 'gateway.request',
      hint: 'Did you mean scope?',
    })
  })
})
