import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { parseJson } from '../../safe/json.ts'
import {
  firing,
  message,
  NOON,
  newRun,
  newTenant,
  type OpenStoreUnderTest,
  otherKeyring,
} from './samples.fixture.ts'
import { shareStore } from './shared-store.fixture.ts'

const definition = { trigger: { event: 'run_finish' }, actions: [{ type: 'notify_team' }], text: 'ä\0\ud800' }

export function ruleConformance(open: OpenStoreUnderTest): void {
  describe('recovery rules', () => {
    const at = shareStore(open)
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
    const at = shareStore(open)

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

  describe('mailboxes', () => {
    const at = shareStore(open)

    test('a message is stored once with its deliveries, listed newest first, read and deleted', async () => {
      const tenant = await newTenant(at.store)
      const { store } = at
      const [first, second] = [message({ member: 'a' }), message({ member: 'b' })]
      const work = { ...firing(tenant).delivery, kind: `team-${tenant}` }
      await store.postMessages(tenant, [first], [work], NOON)
      await store.postMessages(tenant, [first, second], [work], NOON + 1)
      expect((await store.listDeliveries(tenant, {}, { limit: 9 })).rows).toHaveLength(1)
      const { rows } = await store.listMailbox(tenant, {}, { limit: 9 })
      expect(rows).toEqual([
        { ...second, tenant_id: tenant, created_at: NOON + 1, read_at: null },
        { ...first, tenant_id: tenant, created_at: NOON, read_at: null },
      ])
      expect(
        (await store.listMailbox(tenant, { team: 'mesh', member: 'a' }, { limit: 9 })).rows,
      ).toHaveLength(1)
      const page = await store.listMailbox(tenant, {}, { limit: 1 })
      const next = await store.listMailbox(tenant, {}, { limit: 1, cursor: page.nextCursor })
      expect([page.rows[0]?.message_id, next.rows[0]?.message_id, next.nextCursor]).toEqual([
        ...[second.message_id, first.message_id, ''],
      ])
      expect(await store.markRead(tenant, [first.message_id, 'none'], NOON + 2)).toBe(1)
      expect(await store.markRead(tenant, [first.message_id])).toBe(0)
      expect(await store.findMessage(tenant, first.message_id)).toMatchObject({ read_at: NOON + 2 })
      expect((await store.listMailbox(tenant, { unread: true }, { limit: 9 })).rows).toMatchObject([second])
      const ofFiring = message({ firing_id: 'f1' })
      await store.postMessages(tenant, [ofFiring], [], NOON + 3)
      expect((await store.listMailbox(tenant, { firing_id: 'f1' }, { limit: 9 })).rows).toMatchObject([
        ofFiring,
      ])
      expect(await store.deleteMessage(tenant, first.message_id)).toBe(true)
      expect(await store.deleteMessage(tenant, first.message_id)).toBe(false)
    })

    test('go with their team', async () => {
      const tenant = await newTenant(at.store)
      await at.store.saveTeam(tenant, { name: 'mesh', definition: {} }, true)
      await at.store.postMessages(tenant, [message(), message({ team: 'other' })], [])
      await at.store.deleteTeam(tenant, 'mesh')
      expect((await at.store.listMailbox(tenant, {}, { limit: 9 })).rows).toMatchObject([{ team: 'other' }])
    })
  })

  describe('firings', () => {
    const at = shareStore(open)

    test('CH-36 a firing arms its windows and queues its actions in one step', async () => {
      const tenant = await newTenant(at.store)
      const given = firing(tenant, { session_id: 's', run_id: 'run_1', depth: 1 })
      const { cooldown: _, actions, delivery, ...kept } = given
      const fired = await at.store.fireRule(given, NOON)
      expect(fired).toEqual({
        firing: {
          ...kept,
          created_at: NOON,
          actions: actions.map(({ action_id, action_type }, position) => ({
            ...{ position, action_id, action_type, status: 'pending', reason: null, detail: null },
            ...{ run_id: null, updated_at: NOON },
          })),
        },
      })
      expect((await at.store.listDeliveries(tenant, {}, { limit: 9 })).rows).toMatchObject([
        { id: delivery.id, kind: delivery.kind, state: 'waiting', due_at: NOON },
      ])
      const later = firing(tenant)
      expect(await at.store.fireRule(later, NOON + 20_000)).toEqual({ left_ms: 10_000 })
      expect(await at.store.findFiring(tenant, later.firing_id)).toBeUndefined()
      expect((await at.store.listDeliveries(tenant, {}, { limit: 9 })).rows).toHaveLength(1)
    })

    test('numbers beyond 2⁵³ in the event of a firing keep their digits', async () => {
      const tenant = await newTenant(at.store)
      const content = parseJson('{"event":{"n":9007199254740993}}') as Readonly<Record<string, unknown>>
      const given = firing(tenant, { content })
      await at.store.fireRule(given, NOON)
      const found = await at.store.findFiring(tenant, given.firing_id)
      expect(JSON.stringify(found?.content)).toBe('{"event":{"n":9007199254740993}}')
    })

    test('the same firing again returns what is stored, whatever its cooldown says', async () => {
      const tenant = await newTenant(at.store)
      const given = firing(tenant)
      const first = await at.store.fireRule(given, NOON)
      const again = { ...given, delivery: { ...given.delivery, id: randomUUID(), dedup_key: randomUUID() } }
      expect(await at.store.fireRule(again, NOON + 1)).toEqual(first)
      expect((await at.store.listDeliveries(tenant, {}, { limit: 9 })).rows).toHaveLength(1)
    })

    test('many nodes at once fire a rule once per cooldown', async () => {
      const tenant = await newTenant(at.store)
      const second = await at.database.reopen()
      const results = await Promise.all(
        Array.from({ length: 12 }, (_, n) => (n % 2 ? at.store : second).fireRule(firing(tenant), NOON)),
      )
      expect(results.filter((result) => 'firing' in result)).toHaveLength(1)
      expect(results.filter((result) => 'left_ms' in result && result.left_ms === 30_000)).toHaveLength(11)
    })

    test('CH-38 CH-42 CH-47 an action within its dedup window, and one that is off, is skipped and keeps the windows', async () => {
      const tenant = await newTenant(at.store)
      const without = { cooldown: { key: 'c', windowMs: 0 } }
      const [action] = firing(tenant).actions
      if (action === undefined) throw new Error('a firing has an action')
      const off = { ...action, action_id: 'off', enabled: false, dedup: { key: 'off', windowMs: 5_000 } }
      const actions = [action, off, { ...action, action_id: 'free', dedup: { key: 'free', windowMs: 0 } }]
      const reasons = async (now: number) => {
        const result = await at.store.fireRule(firing(tenant, { ...without, actions }), now)
        return 'firing' in result ? result.firing.actions.map(({ reason }) => reason) : []
      }
      expect(await reasons(NOON)).toEqual([null, 'action disabled', null])
      expect(await reasons(NOON + 1_000)).toEqual([
        'dedup window active for 9000ms',
        'dedup window active for 4000ms',
        null,
      ])
      expect(await reasons(NOON + 10_000)).toEqual([null, 'action disabled', null])
    })

    test('a firing without an action that runs queues nothing', async () => {
      const tenant = await newTenant(at.store)
      const [action] = firing(tenant).actions
      const actions = action === undefined ? [] : [{ ...action, enabled: false }]
      await at.store.fireRule(firing(tenant, { actions }), NOON)
      expect((await at.store.listDeliveries(tenant, {}, { limit: 9 })).rows).toEqual([])
    })

    test('ruling 45 windows that began while the clock was ahead last one window from when they are seen', async () => {
      const tenant = await newTenant(at.store)
      const ahead = NOON + 86_400_000
      const fire = async (cooldownMs: number, now: number) =>
        at.store.fireRule(firing(tenant, { cooldown: { key: 'c', windowMs: cooldownMs } }), now)
      await fire(30_000, ahead)
      expect(await fire(30_000, NOON)).toEqual({ left_ms: 30_000 })
      expect(await fire(30_000, NOON + 29_999)).toEqual({ left_ms: 1 })
      // The firings that the cooldown skipped looked at the dedup window of the action too.
      expect(await fire(30_000, NOON + 30_000)).toMatchObject({ firing: { actions: [{ reason: null }] } })
    })

    test('a cooldown that was made shorter after the rule fired ends after its new length', async () => {
      const tenant = await newTenant(at.store)
      const fire = async (windowMs: number, now: number) =>
        at.store.fireRule(firing(tenant, { cooldown: { key: 'c', windowMs } }), now)
      await fire(3_600_000, NOON)
      expect(await fire(1_000, NOON + 1)).toEqual({ left_ms: 1_000 })
      expect(await fire(1_000, NOON + 1_001)).toMatchObject({ firing: { created_at: NOON + 1_001 } })
    })

    test('windows that go on are read without arming any', async () => {
      const tenant = await newTenant(at.store)
      const given = firing(tenant)
      const cooldown = { kind: 'cooldown', ...given.cooldown } as const
      const [action] = given.actions
      const dedup = { kind: 'dedup', key: action?.dedup.key ?? '', windowMs: 10_000 } as const
      expect(await at.store.readWindows(tenant, [cooldown, dedup], NOON)).toEqual({})
      await at.store.fireRule(given, NOON)
      expect(await at.store.readWindows(tenant, [cooldown, dedup], NOON + 4_000)).toEqual({
        [cooldown.key]: 26_000,
        [dedup.key]: 6_000,
      })
      expect(await at.store.readWindows(tenant, [cooldown, dedup], NOON + 10_000)).toEqual({
        [cooldown.key]: 20_000,
      })
      expect(await at.store.readWindows(tenant, [])).toEqual({})
    })

    test('an action begins once and ends once', async () => {
      const tenant = await newTenant(at.store)
      const { firing_id } = firing(tenant)
      await at.store.fireRule(firing(tenant, { firing_id }), NOON)
      expect(await at.store.startAction(tenant, firing_id, 0, NOON + 1)).toBe(true)
      expect(await at.store.startAction(tenant, firing_id, 0)).toBe(false)
      const end = { position: 0, status: 'executed', reason: null, detail: 'done', run_id: 'run_9' } as const
      expect(await at.store.endAction(tenant, firing_id, end, NOON + 2)).toBe(true)
      expect(await at.store.endAction(tenant, firing_id, { ...end, status: 'failed' })).toBe(false)
      expect(await at.store.findFiring(tenant, firing_id)).toMatchObject({
        actions: [{ status: 'executed', detail: 'done', run_id: 'run_9', updated_at: NOON + 2 }],
      })
    })

    test('firings are listed newest first, by rule, event and run', async () => {
      const tenant = await newTenant(at.store)
      const free = { cooldown: { key: 'c', windowMs: 0 } }
      const given = [
        firing(tenant, { ...free, rule_id: 'a', event_id: 'e1', run_id: 'run_1' }),
        firing(tenant, { ...free, rule_id: 'b', event_id: 'e1' }),
        firing(tenant, { ...free, rule_id: 'a', event_id: 'e2' }),
      ]
      for (const [index, each] of given.entries()) await at.store.fireRule(each, NOON + index)
      const ids = given.map(({ firing_id }) => firing_id)
      const listed = async (filter: Parameters<typeof at.store.listFirings>[1]) =>
        (await at.store.listFirings(tenant, filter, { limit: 9 })).rows.map(({ firing_id }) =>
          ids.indexOf(firing_id),
        )
      expect(await listed({})).toEqual([2, 1, 0])
      expect(await listed({ rule_id: 'a' })).toEqual([2, 0])
      expect(await listed({ event_id: 'e1' })).toEqual([1, 0])
      expect(await listed({ run_id: 'run_1' })).toEqual([0])
      const end = { position: 0, status: 'executed', reason: null, detail: null, run_id: 'run_2' } as const
      await at.store.endAction(tenant, ids[1] ?? '', end)
      expect(await listed({ started_run_id: 'run_2' })).toEqual([1])
      expect(await listed({ started_run_id: 'run_1' })).toEqual([])
      const page = await at.store.listFirings(tenant, {}, { limit: 2 })
      const next = await at.store.listFirings(tenant, {}, { limit: 2, cursor: page.nextCursor })
      expect(next.rows.map(({ firing_id }) => firing_id)).toEqual([ids[0]])
    })

    test('old firings and messages are pruned with the history', async () => {
      const tenant = await newTenant(at.store)
      const old = firing(tenant)
      await at.store.fireRule(old, NOON - 5_000)
      await at.store.postMessages(tenant, [message()], [], NOON - 5_000)
      await at.store.prune({ keep_executions_ms: 1_000, keep_deliveries_ms: 1_000 }, NOON)
      expect(await at.store.findFiring(tenant, old.firing_id)).toBeUndefined()
      expect((await at.store.listMailbox(tenant, {}, { limit: 9 })).rows).toEqual([])
    })
  })

  describe('a run that a rule starts', () => {
    const at = shareStore(open)

    test('keeps the tools and the model that replace those of its blueprint', async () => {
      const tenant = await newTenant(at.store)
      const overrides = { tools: ['Read'], model: 'opus' }
      const run = await at.store.createRun(
        newRun(tenant, { overrides }),
        { hostname: null, executor_profile: null },
        NOON,
      )
      expect(await at.store.findRun(tenant, run.run_id)).toMatchObject({ overrides })
    })
  })

  describe('the master tenant', () => {
    const at = shareStore(open)

    test('has rules of its own, which no other tenant reads', async () => {
      await at.store.createRule(MASTER_TENANT, { rule_id: 'm', definition, enabled: true, created_by: null })
      const tenant = await newTenant(at.store)
      expect(await at.store.listRules(tenant)).toEqual([])
      expect(await at.store.deleteRule(MASTER_TENANT, 'm')).toBe(true)
    })
  })
}
