import { describe, expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import { NOON, newTenant, otherKeyring } from '../../../test/store/samples.fixture.ts'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'

const definition = { trigger: { event: 'run_finish' }, actions: [{ type: 'notify_team' }], text: 'ä\0\ud800' }

onEachStore('rules', (open) => {
  const at = shareStore(open)

  describe('recovery rules', () => {
    const newRule = (rule_id: string) => ({ rule_id, definition, enabled: true, created_by: 'ci' })

    test('a rule is created once, read, changed by its version, switched and deleted', async () => {
      const tenant = await newTenant(at.store)
      const created = await at.store.createRule(tenant, newRule('r/1'), NOON)
      expect(created).toEqual({
        ...{ tenant_id: tenant, rule_id: 'r/1', definition, enabled: true, version: 1, created_by: 'ci' },
        ...{ created_at: NOON, updated_at: NOON },
      })
      expect(await at.store.createRule(tenant, newRule('r/1'), NOON)).toBeUndefined()
      expect(await at.store.findRule(tenant, 'r/1')).toEqual(created)
      const changed = { ...definition, text: 'other' }
      expect(await at.store.updateRule(tenant, 'r/1', { definition: changed, version: 1 }, NOON + 1)).toEqual(
        {
          ...created,
          definition: changed,
          version: 2,
          updated_at: NOON + 1,
        },
      )
      expect(await at.store.updateRule(tenant, 'r/1', { definition, version: 1 })).toBe('stale')
      expect(await at.store.updateRule(tenant, 'none', { definition })).toBe('missing')
      expect(await at.store.updateRule(tenant, 'r/1', { enabled: false }, NOON + 2)).toMatchObject({
        ...{ definition: changed, enabled: false, version: 3 },
      })
      expect(await at.store.deleteRule(tenant, 'r/1')).toBe(true)
      expect(await at.store.deleteRule(tenant, 'r/1')).toBe(false)
      expect(await at.store.findRule(tenant, 'r/1')).toBeUndefined()
    })

    test('rules are listed in the order of creation, and every change raises the version of definitions', async () => {
      const tenant = await newTenant(at.store)
      const { cursor } = await at.store.definitionChanges()
      for (const [index, id] of ['b', 'a', 'c'].entries())
        await at.store.createRule(tenant, newRule(id), NOON + index)
      expect((await at.store.listRules(tenant)).map(({ rule_id }) => rule_id)).toEqual(['b', 'a', 'c'])
      await at.store.updateRule(tenant, 'a', { enabled: false })
      await at.store.deleteRule(tenant, 'c')
      const { changed } = await at.store.definitionChanges(cursor)
      expect(changed.find((change) => change.tenant === tenant)).toMatchObject({ version: 5 })
    })

    test('a definition whose key is gone is null', async () => {
      const tenant = await newTenant(at.store)
      await at.store.createRule(tenant, newRule('r'))
      await at.store.saveTeam(tenant, { name: 't', definition }, true)
      const other = await at.database.reopen(otherKeyring)
      expect(await other.findRule(tenant, 'r')).toMatchObject({ definition: null })
      expect(await other.findTeam(tenant, 't')).toMatchObject({ definition: null })
    })
  })

  describe('teams and environments', () => {
    test('are created once, replaced, listed by name and deleted', async () => {
      const tenant = await newTenant(at.store)
      const { store } = at
      const kinds = [
        [store.saveTeam, store.findTeam, store.listTeams, store.deleteTeam],
        [store.saveEnvironment, store.findEnvironment, store.listEnvironments, store.deleteEnvironment],
      ] as const
      for (const [save, find, list, remove] of kinds) {
        const row = { tenant_id: tenant, name: 'b', definition, created_at: NOON, updated_at: NOON }
        expect(await save(tenant, { name: 'b', definition }, true, NOON)).toEqual(row)
        expect(await save(tenant, { name: 'b', definition: {} }, true, NOON)).toBeUndefined()
        expect(await save(tenant, { name: 'a', definition: {} }, false, NOON)).toBeUndefined()
        expect(await find(tenant, 'b')).toEqual(row)
        await save(tenant, { name: 'a', definition: {} }, true, NOON)
        expect(await save(tenant, { name: 'b', definition: { x: 1 } }, false, NOON + 5)).toEqual({
          ...row,
          definition: { x: 1 },
          updated_at: NOON + 5,
        })
        expect((await list(tenant)).map(({ name }) => name)).toEqual(['a', 'b'])
        expect([await remove(tenant, 'b'), await remove(tenant, 'b')]).toEqual([true, false])
      }
    })
  })

  describe('the master tenant', () => {
    test('has rules of its own, which no other tenant reads', async () => {
      await at.store.createRule(MASTER_TENANT, { rule_id: 'm', definition, enabled: true, created_by: null })
      const tenant = await newTenant(at.store)
      expect(await at.store.listRules(tenant)).toEqual([])
      expect(await at.store.deleteRule(MASTER_TENANT, 'm')).toBe(true)
    })
  })
})
