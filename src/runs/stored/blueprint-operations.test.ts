import { expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import { blueprintHook, hook, NOON, newTenant } from '../../../test/store/samples.fixture.ts'

onEachStore('blueprints', (open) => {
  const at = shareStore(open)
  const blueprint = (definition: Readonly<Record<string, unknown>> = {}) =>
    ({ name: 'writer', source: 'stored', definition }) as const

  test('AO-7 a blueprint is read as it was saved, with the order of its keys and unknown ones', async () => {
    const tenant = await newTenant(at.store)
    const definition = { type: 'procedural', zeta: { b: 1, a: ['\0', '\ud800'] }, alpha: null }
    const saved = await at.store.saveBlueprint(tenant, blueprint(definition), undefined, NOON)
    const times = { version: 1, created_at: NOON, updated_at: NOON }
    expect(saved).toEqual({ tenant_id: tenant, owner: null, ...blueprint(definition), ...times })
    const found = await at.store.findBlueprint(tenant, 'writer')
    expect(found).toEqual(saved)
    expect(JSON.stringify(found?.definition)).toBe(JSON.stringify(definition))
    expect(await at.store.listBlueprints(tenant)).toEqual([saved])
    expect(await at.store.findBlueprint(tenant, 'none')).toBeUndefined()
  })

  test('a save replaces the version that it names, any without one, and with 0 only creates', async () => {
    const { store } = at
    const tenant = await newTenant(store)
    expect(await store.saveBlueprint(tenant, blueprint(), 1, NOON)).toBeUndefined()
    expect(await store.saveBlueprint(tenant, blueprint({ n: 1 }), 0, NOON)).toMatchObject({ version: 1 })
    expect(await store.saveBlueprint(tenant, blueprint({ n: 2 }), 0, NOON)).toBeUndefined()
    expect(await store.saveBlueprint(tenant, blueprint({ n: 3 }), 1, NOON + 1)).toMatchObject({
      version: 2,
      created_at: NOON,
      updated_at: NOON + 1,
    })
    expect(await store.saveBlueprint(tenant, blueprint({ n: 4 }), 1, NOON)).toBeUndefined()
    expect(await store.findBlueprint(tenant, 'writer')).toMatchObject({ definition: { n: 3 } })
    const file = { ...blueprint({ n: 5 }), source: 'file' } as const
    expect(await store.saveBlueprint(tenant, file)).toMatchObject({ version: 3, source: 'file' })
    expect(await store.deleteBlueprint(tenant, 'writer')).toBe(true)
    expect(await store.deleteBlueprint(tenant, 'writer')).toBe(false)
  })

  test('its hooks are stored with it, replaced with it and deleted with it; other hooks stay', async () => {
    const { store } = at
    const tenant = await newTenant(store)
    const others = [
      hook(tenant, { scope: 'agent', agent_ids: ['writer'] }),
      hook(tenant, { scope: 'agent', agent_ids: ['reader'] }),
    ]
    for (const other of others) await store.createHook(other, NOON)
    const reader = { ...blueprint(), name: 'reader', hooks: [blueprintHook()] }
    await store.saveBlueprint(tenant, reader, undefined, NOON)
    const [kept, dropped, added] = [blueprintHook(), blueprintHook(), blueprintHook()]
    await store.saveBlueprint(tenant, { ...blueprint(), hooks: [kept, dropped] }, undefined, NOON)
    const own = async () => {
      const { hooks } = await store.loadDefinitions(tenant)
      const mine = hooks.filter((row) => row.source === 'blueprint' && row.agent_ids[0] === 'writer')
      return new Map(mine.map((row) => [row.id, row]))
    }
    expect([...(await own()).keys()].toSorted()).toEqual([kept.id, dropped.id].toSorted())
    expect((await own()).get(kept.id)).toEqual({
      ...kept,
      tenant_id: tenant,
      scope: 'agent',
      agent_ids: ['writer'],
      source: 'blueprint',
      version: 1,
      created_at: NOON,
      updated_at: NOON,
    })
    const { version } = await store.loadDefinitions(tenant)
    const next = { ...blueprint(), hooks: [{ ...kept, priority: 7 }, added] }
    expect(await store.saveBlueprint(tenant, next, 9, NOON)).toBeUndefined()
    expect((await store.loadDefinitions(tenant)).version).toBe(version)
    await store.saveBlueprint(tenant, next, 1, NOON + 1)
    expect((await store.loadDefinitions(tenant)).version).toBe(version + 1)
    expect([...(await own()).keys()].toSorted()).toEqual([kept.id, added.id].toSorted())
    expect((await own()).get(kept.id)).toMatchObject({ priority: 7, version: 2, created_at: NOON })
    // Without hooks, a save leaves them as they are.
    await store.saveBlueprint(tenant, blueprint())
    expect((await own()).size).toBe(2)
    await store.deleteBlueprint(tenant, 'writer')
    expect((await own()).size).toBe(0)
    const left = (await store.loadDefinitions(tenant)).hooks.map((row) => row.id)
    expect(left.toSorted()).toEqual([...others, ...reader.hooks].map((row) => row.id).toSorted())
  })

  test('a hook that cannot be stored leaves the blueprint as it was', async () => {
    const { store } = at
    const tenant = await newTenant(store)
    const taken = await store.createHook(hook(tenant), NOON)
    const hooks = [blueprintHook(), blueprintHook({ id: taken.id })]
    await expect(store.saveBlueprint(tenant, { ...blueprint(), hooks })).rejects.toMatchObject({
      code: 'store.taken',
    })
    expect(await store.listBlueprints(tenant)).toEqual([])
    expect((await store.loadDefinitions(tenant)).hooks).toHaveLength(1)
  })

  test('AO-60 a named hook is created once, replaced, found, listed and deleted', async () => {
    const { store } = at
    const tenant = await newTenant(store)
    const named = { name: 'check', definition: { type: 'agent', b: 1, a: 2 } }
    expect(await store.saveRunHook(tenant, named, false, NOON)).toBeUndefined()
    const saved = await store.saveRunHook(tenant, named, true, NOON)
    expect(saved).toEqual({ tenant_id: tenant, ...named, created_at: NOON, updated_at: NOON })
    expect(await store.saveRunHook(tenant, named, true, NOON)).toBeUndefined()
    const changed = { ...named, definition: { type: 'http' } }
    expect(await store.saveRunHook(tenant, changed, false, NOON + 1)).toEqual({
      ...saved,
      ...changed,
      updated_at: NOON + 1,
    })
    expect(await store.findRunHook(tenant, 'check')).toMatchObject(changed)
    expect(await store.findRunHook(tenant, 'none')).toBeUndefined()
    expect(await store.listRunHooks(tenant)).toMatchObject([changed])
    expect(await store.deleteRunHook(tenant, 'check')).toBe(true)
    expect(await store.deleteRunHook(tenant, 'check')).toBe(false)
  })
})
