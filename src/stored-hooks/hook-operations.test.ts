import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../test/store/each-store.fixture.ts'
import { coded, event, hook, NOON, newTenant } from '../../test/store/samples.fixture.ts'
import { MASTER_TENANT } from '../access/tenant-tables.ts'
import type { HookRow, NewHook } from './hook-tables.ts'

const whole: Partial<NewHook> = {
  name: 'Safety \u0000 webhook',
  description: 'says no',
  scope: 'agent',
  agent_ids: [randomUUID(), randomUUID()],
  matcher: '^exec$',
  if_expr: 'tool_name == "x"',
  match: { glob: 'mcp__*', fields: { 'a.b': 1 } },
  timeout_ms: 1_000,
  on_error: 'allow',
  on_timeout: 'allow',
  on_invalid: 'block',
  priority: -5,
  enabled: false,
  disabled_reason: 'by hand',
  locked: true,
  shadow: true,
  cooldown_ms: 10,
  max_invocations_per_turn: 5,
  budget: { name: 'b', limit: 3 },
  config: { url: 'https://example.com', headers: { 'x-y': 'ä"\\\u0000' }, deep: [1, null, { a: [] }] },
  created_by: 'me',
}

onEachStore('hooks', (open) => {
  const at = shareStore(open)

  test('GC-100 a hook reads back as it was written, every field of it', async () => {
    const tenant = await newTenant(at.store)
    const given = hook(tenant, whole)
    const row = { ...given, version: 1, created_at: NOON, updated_at: NOON }
    expect(await at.store.createHook(given, NOON)).toEqual(row)
    expect(await at.store.findHook(tenant, given.id)).toEqual(row)
    expect(await at.store.listHooks(tenant, { event: 'pre_tool_use', scope: 'agent' })).toEqual([row])
  })

  test('an id is given once', async () => {
    const tenant = await newTenant(at.store)
    const given = hook(tenant)
    await at.store.createHook(given, NOON)
    await expect(at.store.createHook(given, NOON)).rejects.toMatchObject(coded('store.taken'))
  })

  test('hooks are listed in the order of creation, own and global ones', async () => {
    const tenant = await newTenant(at.store)
    const late = await at.store.createHook(hook(tenant), NOON + 2)
    const early = await at.store.createHook(hook(tenant), NOON)
    const global = await at.store.createHook(hook(MASTER_TENANT, { scope: 'global' }), NOON + 1)
    const ids = (await at.store.listHooks(tenant)).map((row) => row.id)
    expect(ids.filter((id) => [late.id, early.id, global.id].includes(id))).toEqual([
      early.id,
      global.id,
      late.id,
    ])
    expect(await at.store.findHook(tenant, global.id)).toEqual(global)
    await at.store.deleteHook(MASTER_TENANT, global.id)
  })

  test.each<[filter: Parameters<typeof at.store.listHooks>[1], names: string[]]>([
    [{ event: 'stop' }, ['b']],
    [{ scope: 'agent' }, ['c']],
    [{ enabled: false }, ['b']],
    [{ agent_id: '0193a5b0-7000-7000-8000-00000000000a' }, ['a', 'b', 'c']],
    [{ agent_id: '0193a5b0-7000-7000-8000-00000000000b' }, ['a', 'b']],
    [{ event: 'stop', enabled: true }, []],
  ])('a list may be narrowed down: %j', async (filter, names) => {
    const tenant = await newTenant(at.store)
    await at.store.createHook(hook(tenant, { name: 'a' }), NOON)
    await at.store.createHook(hook(tenant, { name: 'b', event: 'stop', enabled: false }), NOON + 1)
    const agent_ids = ['0193a5b0-7000-7000-8000-00000000000a']
    await at.store.createHook(hook(tenant, { name: 'c', scope: 'agent', agent_ids }), NOON + 2)
    expect((await at.store.listHooks(tenant, filter)).map((row) => row.name)).toEqual(names)
  })

  test('GC-104 an update replaces the definition and raises the version by one', async () => {
    const tenant = await newTenant(at.store)
    const before = await at.store.createHook(hook(tenant, whole), NOON)
    const changed = { event: 'stop', handler_type: 'command', config: { command: 'x' }, name: 'new' }
    const after = await at.store.updateHook(tenant, before.id, { version: 1, hook: changed }, NOON + 1)
    expect(after).toEqual({
      ...changed,
      id: before.id,
      tenant_id: tenant,
      scope: 'agent',
      agent_ids: before.agent_ids,
      priority: -5,
      enabled: false,
      version: 2,
      source: 'user',
      created_by: 'me',
      created_at: NOON,
      updated_at: NOON + 1,
    })
    expect(await at.store.findHook(tenant, before.id)).toEqual(after)
  })

  test('an update of what has changed meanwhile writes nothing', async () => {
    const tenant = await newTenant(at.store)
    const row = await at.store.createHook(hook(tenant), NOON)
    const change = { version: 1, hook: { ...row, priority: 1 } }
    const both = await Promise.all([
      at.store.updateHook(tenant, row.id, change, NOON),
      at.store.updateHook(tenant, row.id, { ...change, hook: { ...row, priority: 2 } }, NOON),
    ])
    expect(both.filter((answer) => answer === 'stale')).toHaveLength(1)
    expect(await at.store.findHook(tenant, row.id)).toMatchObject({ version: 2 })
    expect(await at.store.updateHook(tenant, randomUUID(), change, NOON)).toBe('missing')
    expect(await at.store.updateHook(tenant, 'no id', change, NOON)).toBe('missing')
  })

  test('a toggle raises the version and keeps the reason only while it is off', async () => {
    const tenant = await newTenant(at.store)
    const { id } = await at.store.createHook(hook(tenant), NOON)
    const off = await at.store.toggleHook(tenant, id, { enabled: false, reason: 'noisy' }, NOON + 1)
    expect(off).toMatchObject({ enabled: false, disabled_reason: 'noisy', version: 2 })
    const on = await at.store.toggleHook(tenant, id, { enabled: true }, NOON + 2)
    expect(on).toMatchObject({ enabled: true, version: 3, updated_at: NOON + 2 })
    expect(on).not.toHaveProperty('disabled_reason')
    expect(on).not.toHaveProperty('tripped_by')
    expect(await at.store.toggleHook(tenant, randomUUID(), { enabled: true }, NOON)).toBe('missing')
  })

  test('GC-107 4.9 #133 deleting a hook keeps its executions, with a null hook id', async () => {
    const tenant = await newTenant(at.store)
    const { id } = await at.store.createHook(hook(tenant), NOON)
    const first = event(tenant, { hooks: [{ hook_id: id }] })
    await at.store.recordEvents([first], [], [])
    // From the journal into the rows that refer to the hook.
    const before = await at.store.history(tenant, {}, { limit: 10 })
    expect(before.rows.map(({ hook_id }) => hook_id)).toEqual([id])
    expect(await at.store.deleteHook(tenant, id)).toBe(true)
    expect(await at.store.deleteHook(tenant, id)).toBe(false)
    expect(await at.store.findHook(tenant, id)).toBeUndefined()
    // It was running when it was deleted.
    const second = event(tenant, { time: NOON + 1, hooks: [{ hook_id: id }] })
    await at.store.recordEvents([second], [], [])
    const { rows } = await at.store.history(tenant, {}, { limit: 10 })
    expect(rows.map((row) => [row.hook_id, row.dedup_key])).toEqual([
      [null, `${id}:${second.event_id}`],
      [null, `${id}:${first.event_id}`],
    ])
    expect((await at.store.verifyAudit()).broken).toBeUndefined()
  })

  test('4.8 #115 the breaker switches an own hook off, once', async () => {
    const tenant = await newTenant(at.store)
    const { id } = await at.store.createHook(hook(tenant), NOON)
    expect(await at.store.tripHook(tenant, id, 'timeout', NOON + 1)).toBe(true)
    expect(await at.store.tripHook(tenant, id, 'timeout', NOON + 2)).toBe(false)
    const row = await at.store.findHook(tenant, id)
    expect(row).toMatchObject({
      enabled: false,
      disabled_reason: 'breaker',
      tripped_by: 'timeout',
      version: 2,
    })
    expect(await at.store.tripHook(tenant, randomUUID(), 'timeout', NOON)).toBe(false)
    const on = await at.store.toggleHook(tenant, id, { enabled: true }, NOON + 3)
    expect(on).not.toHaveProperty('tripped_by')
  })

  test('the breaker of one tenant leaves a global hook on for all others; on clears every trip', async () => {
    const [tenant, other] = [await newTenant(at.store), await newTenant(at.store)]
    const { id } = await at.store.createHook(hook(MASTER_TENANT, { scope: 'global' }), NOON)
    expect(await at.store.tripHook(tenant, id, 'timeout', NOON)).toBe(true)
    expect(await at.store.tripHook(tenant, id, 'timeout', NOON)).toBe(false)
    expect(await at.store.loadDefinitions(tenant)).toMatchObject({
      tripped: [{ hookId: id, by: 'timeout' }],
    })
    expect(await at.store.loadDefinitions(other)).toMatchObject({ tripped: [] })
    expect(await at.store.findHook(other, id)).toMatchObject({ enabled: true, version: 1 })
    const { cursor } = await at.store.definitionChanges()
    await at.store.toggleHook(MASTER_TENANT, id, { enabled: true }, NOON)
    expect(await at.store.loadDefinitions(tenant)).toMatchObject({ tripped: [] })
    const { changed } = await at.store.definitionChanges(cursor)
    expect(changed.map((change) => change.tenant)).toEqual(expect.arrayContaining([tenant, MASTER_TENANT]))
    await at.store.deleteHook(MASTER_TENANT, id)
  })

  test('a snapshot has the own hooks and the version of the definitions', async () => {
    const tenant = await newTenant(at.store)
    expect(await at.store.loadDefinitions(tenant)).toEqual({ version: 0, hooks: [], tripped: [] })
    const row = await at.store.createHook(hook(tenant), NOON)
    expect(await at.store.loadDefinitions(tenant)).toEqual({ version: 1, hooks: [row], tripped: [] })
  })

  test('every change of definitions is told, and only since the cursor', async () => {
    const tenant = await newTenant(at.store)
    const start = await at.store.definitionChanges()
    expect(start.changed).toEqual([])
    let { cursor } = start
    const told = async () => {
      const changes = await at.store.definitionChanges(cursor)
      cursor = changes.cursor
      return changes.changed.filter((change) => change.tenant === tenant).map((change) => change.version)
    }
    const { id } = await at.store.createHook(hook(tenant), NOON)
    expect(await told()).toEqual([1])
    const row = (await at.store.findHook(tenant, id)) as HookRow
    await at.store.updateHook(tenant, id, { version: 1, hook: row }, NOON)
    expect(await told()).toEqual([2])
    await at.store.toggleHook(tenant, id, { enabled: true }, NOON)
    await at.store.tripHook(tenant, id, 'timeout', NOON)
    expect(await told()).toEqual([4])
    await at.store.deleteHook(tenant, id)
    expect(await told()).toEqual([5])
    expect(await told()).toEqual([])
  })

  test('hooks of handler types that an edition lacks are switched off, builtin ones not', async () => {
    const tenant = await newTenant(at.store)
    const type = `type ${randomUUID().slice(0, 4)}`
    const on = await at.store.createHook(hook(tenant, { handler_type: type }), NOON)
    await at.store.createHook(hook(tenant, { handler_type: type, enabled: false }), NOON)
    const builtin = await at.store.createHook(hook(tenant, { handler_type: type, source: 'builtin' }), NOON)
    expect(await at.store.disableHandlerTypes([type], 'edition', NOON)).toBe(1)
    expect(await at.store.disableHandlerTypes([type], 'edition', NOON)).toBe(0)
    expect(await at.store.disableHandlerTypes([], 'edition', NOON)).toBe(0)
    expect(await at.store.findHook(tenant, on.id)).toMatchObject({
      enabled: false,
      disabled_reason: 'edition',
      version: 2,
    })
    expect(await at.store.findHook(tenant, builtin.id)).toMatchObject({ enabled: true })
  })
})
