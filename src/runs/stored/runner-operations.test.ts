import { describe, expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import { openRuns } from '../../../test/store/runs-of-runner.fixture.ts'
import { NOON, newRunner, newTenant } from '../../../test/store/samples.fixture.ts'
import type { RunDemands, RunnerOffer, TakenRun } from './run-tables.ts'

const demandCases: readonly (readonly [
  demands: RunDemands,
  offer: Partial<RunnerOffer>,
  isTaken: boolean,
])[] = [
  [{}, {}, true],
  [{}, { tags: ['a'] }, true],
  [{ hostname: '', tags: [] }, {}, true],
  [{ hostname: 'host' }, {}, true],
  [{ hostname: 'other' }, {}, false],
  [{ project_dir: '/project' }, {}, true],
  [{ project_dir: '/project/' }, {}, false],
  [{ executor_profile: 'default' }, {}, true],
  [{ executor_profile: 'other' }, {}, false],
  [{ executor_type: 'procedural' }, {}, true],
  [{ executor_type: 'model' }, {}, false],
  [
    { hostname: 'host', project_dir: '/project', executor_profile: 'default', executor_type: 'procedural' },
    {},
    true,
  ],
  [{ hostname: 'host', executor_type: 'model' }, {}, false],
  [{ project_dir: 'host' }, {}, false],
  [{ tags: ['a'] }, {}, false],
  [{ tags: ['b', 'a'] }, { tags: ['a', 'b', 'c'] }, true],
  [{ tags: ['a', 'd'] }, { tags: ['a', 'b', 'c'] }, false],
  [{ tags: ['a,b', 'ü"\0'] }, { tags: ['ü"\0', 'a,b'] }, true],
  [{ tags: ['a,b'] }, { tags: ['a', 'b'] }, false],
  [{}, { tags: ['a'], require_matching_tags: true }, false],
  [{ tags: ['a'] }, { tags: ['a', 'b'], require_matching_tags: true }, true],
  [{ tags: ['a', 'c'] }, { tags: ['a', 'b'], require_matching_tags: true }, false],
  [{}, { require_matching_tags: true }, false],
]

onEachStore('runners', (open) => {
  const at = shareStore(open)

  describe('taking runs', () => {
    test.each(demandCases)(
      'AO-53 a run that demands %j, a runner that offers %j: %s',
      async (demands, offer, isTaken) => {
        const { take, create } = await openRuns(at.store, offer)
        const run = await create({ demands })
        expect((await take())?.run.run_id).toBe(isTaken ? run.run_id : undefined)
      },
    )

    test('AO-53 the oldest fitting run is taken, whatever its demands', async () => {
      const { take, create } = await openRuns(at.store, { tags: ['a', 'b'] })
      const fitting: string[] = []
      for (const demands of [
        { tags: ['b'] },
        {},
        { hostname: 'host' },
        { tags: ['a'] },
        {},
        { tags: ['b'] },
      ]) {
        await create({ demands: { ...demands, executor_type: 'model' } })
        fitting.push((await create({ demands })).run_id)
      }
      const taken: (string | undefined)[] = []
      for (let n = 0; n < 7; n++) taken.push((await take())?.run.run_id)
      expect(taken).toEqual([...fitting, undefined])
    })

    test('AO-52 a taken run is claimed by its runner', async () => {
      const { take, create, find, runner_id } = await openRuns(at.store)
      const run = await create()
      const taken = await take({ now: NOON + 3 })
      const claimed = { ...run, status: 'claimed', runner_id, attempts: 1, claimed_at: NOON + 3 }
      expect(taken).toEqual({ run: claimed, next: 'start', lease: expect.any(String) })
      expect(await find(run)).toEqual(claimed)
      expect(await take()).toBeUndefined()
    })

    test('a runner that is not registered, was removed or was asked to leave gets none', async () => {
      const { tenant, runner_id, take, create } = await openRuns(at.store)
      await create()
      expect(await take({ runner_id: 'lnch_none' })).toBeUndefined()
      expect(await at.store.markRunnerLeaving(tenant, runner_id)).toMatchObject({ is_leaving: true })
      expect(await take()).toBeUndefined()
      expect(await at.store.removeRunner(tenant, runner_id)).toBe(true)
      expect(await take()).toBeUndefined()
      await at.store.registerRunner(newRunner(tenant, { runner_id }), NOON)
      expect(await take()).toBeDefined()
    })

    test('AO-53 polls at the same time get the oldest runs that fit each of them, whatever the others offer', async () => {
      const { tenant, take, create } = await openRuns(at.store)
      const register = async (offer: Partial<RunnerOffer>) =>
        (await at.store.registerRunner(newRunner(tenant, offer), NOON)).runner_id
      const plain = [await register({}), await register({}), await register({})]
      const tagged = [await register({ tags: ['gpu'] }), await register({ tags: ['gpu'] })]
      const gone = await register({})
      await at.store.markRunnerLeaving(tenant, gone)
      const runs: string[] = []
      for (let n = 0; n < 4; n++) runs.push((await create()).run_id)
      const gpu = (await create({ demands: { tags: ['gpu'] } })).run_id
      const all = [...plain, 'lnch_none', ...tagged, gone]
      const taken = await Promise.all(all.map((runner_id) => take({ runner_id })))
      const ids = taken.map((one) => one?.run.run_id)
      expect(taken.map((one) => one?.run.runner_id ?? null)).toEqual([...plain, null, ...tagged, null])
      expect(ids.slice(0, 3).toSorted()).toEqual(runs.slice(0, 3).toSorted())
      expect(ids.slice(4, 6).toSorted()).toEqual([runs[3], gpu].toSorted())
      expect(await take()).toBeUndefined()
    })

    test('10 takers on two nodes take 300 runs: none is lost, none is taken twice', async () => {
      const { tenant, take, create } = await openRuns(at.store)
      const second = await at.database.reopen()
      const runs: string[] = []
      for (let n = 0; n < 300; n++)
        runs.push((await create({ demands: n % 3 === 0 ? { hostname: 'host' } : {} })).run_id)
      const takers = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          second.registerRunner(newRunner(tenant, { runner_id: `t${n}` }), NOON),
        ),
      )
      const taken = await Promise.all(
        takers.map(async ({ runner_id }, n) => {
          const own: TakenRun[] = []
          const store = n % 2 === 0 ? at.store : second
          for (;;) {
            const next = await store.takeRun({
              tenant,
              runner_id,
              needsHooks: [],
              lease_ms: 60_000,
              now: NOON,
            })
            if (next === undefined) return own
            expect(next.run.runner_id).toBe(runner_id)
            own.push(next)
          }
        }),
      )
      const left: TakenRun[] = []
      for (let next = await take(); next !== undefined; next = await take()) left.push(next)
      const ids = [...taken.flat(), ...left].map(({ run }) => run.run_id)
      expect(ids.toSorted()).toEqual(runs.toSorted())
      expect(taken.filter((own) => own.length > 0).length).toBeGreaterThan(1)
    })

    test('a run behind many runs of other demands is found', async () => {
      const { take, create } = await openRuns(at.store, { tags: ['a'] })
      await Promise.all(
        Array.from({ length: 200 }, (_, n) =>
          create({ demands: n % 2 === 0 ? { project_dir: `/${n}` } : { tags: [`t${n % 7}`] } }),
        ),
      )
      expect(await take()).toBeUndefined()
      const run = await create({ demands: { tags: ['a'] } })
      expect((await take())?.run.run_id).toBe(run.run_id)
    })

    test('AO-49 a runner is read as it registered, and replaced when it registers again', async () => {
      const { store } = at
      const tenant = await newTenant(store)
      const given = newRunner(tenant, { tags: ['b', 'a', '\0'], require_matching_tags: true })
      const row = await store.registerRunner(given, NOON)
      expect(row).toEqual({ ...given, registered_at: NOON, last_seen_at: NOON, is_leaving: false })
      expect(await store.findRunner(tenant, given.runner_id, NOON + 7)).toEqual({ ...row, silent_ms: 7 })
      expect(await store.keepRunner(tenant, given.runner_id, 5, NOON + 1)).toEqual({
        ...row,
        last_seen_at: NOON + 1,
      })
      await store.markRunnerLeaving(tenant, given.runner_id)
      const again = { ...given, hostname: 'new', tags: [] }
      expect(await store.registerRunner(again, NOON + 2)).toEqual({
        ...again,
        registered_at: NOON + 2,
        last_seen_at: NOON + 2,
        is_leaving: false,
      })
      expect(await store.listRunners(tenant)).toHaveLength(1)
      expect(await store.removeRunner(tenant, given.runner_id)).toBe(true)
      expect(await store.removeRunner(tenant, given.runner_id)).toBe(false)
      expect(await store.findRunner(tenant, given.runner_id)).toBeUndefined()
      expect(await store.keepRunner(tenant, given.runner_id, 5, NOON)).toBeUndefined()
      expect(await store.markRunnerLeaving(tenant, given.runner_id)).toBeUndefined()
    })
  })
})
