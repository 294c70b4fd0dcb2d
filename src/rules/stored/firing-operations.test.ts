import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import { firing, message, NOON, newRun, newTenant } from '../../../test/store/samples.fixture.ts'
import { parseJson } from '../../safe/json.ts'

const _definition = {
  trigger: { event: 'run_finish' },
  actions: [{ type: 'notify_team' }],
  text: 'ä\0\ud800',
}

onEachStore('what rules start', (open) => {
  const at = shareStore(open)

  describe('firings', () => {
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
})
