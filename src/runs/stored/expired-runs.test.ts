import { describe, expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import {
  ended,
  LEASE_MS,
  nowhere,
  openRuns,
  runIn,
  started,
} from '../../../test/store/runs-of-runner.fixture.ts'
import { NOON, newRun, newRunner, newTenant } from '../../../test/store/samples.fixture.ts'
import type { Store } from '../../store/store.ts'

const CLAIM_WITHIN_MS = newRun('').claim_within_ms

const abandonedCases = (['pending', 'preparing', 'claimed', 'running', 'stopping'] as const).flatMap((from) =>
  (['its runner is gone', 'its coordinator is gone', 'its runner is removed'] as const).map((cause) => {
    const to = { pending: 'failed', stopping: 'stopped' } as const
    return [from, cause, from === 'pending' || from === 'stopping' ? to[from] : 'pending'] as const
  }),
)

onEachStore('runs whose runner is gone', (open) => {
  const at = shareStore(open)

  describe('leases of runs', () => {
    test('a running run lives by the heartbeat of its runner; without it another runner takes it', async () => {
      const runs = await openRuns(at.store)
      const { tenant, runner_id, expire, session } = runs
      const run = await runIn(runs, at.store, 'running')
      await at.store.keepRunner(tenant, runner_id, LEASE_MS, NOON + 900)
      expect(await expire(NOON + 1_899)).toEqual([])
      expect(await expire(NOON + 1_900)).toMatchObject([
        {
          run_id: run.run_id,
          status: 'pending',
          runner_id: null,
          attempts: 1,
          claimed_at: null,
          started_at: null,
        },
      ])
      expect(await session(run)).toMatchObject({ status: 'pending' })
      const other = await at.store.registerRunner(newRunner(tenant), NOON)
      const taken = await runs.take({ runner_id: other.runner_id, now: NOON + 2_000 })
      expect(taken).toMatchObject({ next: 'start', run: { run_id: run.run_id, attempts: 2 } })
      // The first runner comes back.
      expect(
        await at.store.reportRun(tenant, run.run_id, runner_id, ended('completed'), NOON),
      ).toBeUndefined()
      await at.store.keepRunner(tenant, runner_id, 99_000, NOON + 2_000)
      expect(await expire(NOON + 3_000, 2)).toMatchObject([
        { status: 'failed', error: expect.stringContaining('2 times'), runner_id: other.runner_id },
      ])
      expect(await session(run)).toMatchObject({ status: 'failed' })
    })

    test('a claimed run whose start is never reported does not live by heartbeats', async () => {
      const runs = await openRuns(at.store)
      const run = await runIn(runs, at.store, 'claimed')
      await at.store.keepRunner(runs.tenant, runs.runner_id, LEASE_MS, NOON + 900)
      expect(await runs.expire(NOON + 999)).toEqual([])
      expect(await runs.expire(NOON + 1_000)).toMatchObject([{ run_id: run.run_id, status: 'pending' }])
    })

    test('a start begins a new lease', async () => {
      const runs = await openRuns(at.store)
      const run = await runIn(runs, at.store, 'claimed')
      await runs.started(run, NOON + 900)
      expect(await runs.expire(NOON + 1_899)).toEqual([])
      expect(await runs.expire(NOON + 1_900)).toHaveLength(1)
    })

    test('a stopping run has one lease to end, whatever its runner does', async () => {
      const runs = await openRuns(at.store)
      const run = await runIn(runs, at.store, 'running')
      await at.store.stopRun(runs.tenant, run.run_id, NOON + 500)
      await at.store.keepRunner(runs.tenant, runs.runner_id, LEASE_MS, NOON + 900)
      expect(await runs.expire(NOON + 1_499)).toEqual([])
      expect(await runs.expire(NOON + 1_500)).toMatchObject([
        { run_id: run.run_id, status: 'stopped', completed_at: NOON + 1_500 },
      ])
      expect(await runs.session(run)).toMatchObject({ status: 'stopped' })
    })

    test.each(abandonedCases)(
      'a run that is %s does not stay so if %s: it is %s',
      async (from, cause, to) => {
        const runs = await openRuns(at.store)
        const { tenant, runner_id } = runs
        const run = await runIn(runs, at.store, from)
        const window = from === 'pending' ? run.created_at + CLAIM_WITHIN_MS : NOON + LEASE_MS
        // A runner that lives keeps only what it runs.
        if (cause === 'its coordinator is gone' && from !== 'running')
          await at.store.keepRunner(tenant, runner_id, LEASE_MS, NOON + LEASE_MS - 1)
        if (cause === 'its runner is removed') {
          await at.store.removeRunner(tenant, runner_id, NOON + 1)
          const isHeld = from !== 'pending' && from !== 'preparing'
          expect(await runs.expire(NOON + 1)).toMatchObject(
            isHeld ? [{ run_id: run.run_id, status: to }] : [],
          )
        }
        await runs.expire(window)
        expect(await runs.find(run)).toMatchObject({ status: to })
        // And what is pending again ends in any case.
        await runs.expire(window + CLAIM_WITHIN_MS)
        expect((await runs.find(run)).completed_at).not.toBeNull()
      },
    )

    test('AO-54 a run that no runner claims in time fails, once', async () => {
      const runs = await openRuns(at.store)
      const run = await runs.create({ claim_within_ms: 300, demands: { hostname: 'none' } })
      const hookRun = await runs.create({
        claim_within_ms: 300,
        hook_point: 'run_start',
        demands: { hostname: 'none' },
      })
      expect(await runs.expire(NOON + 299)).toEqual([])
      const failed = await runs.expire(NOON + 300)
      expect(failed.map((row) => row.run_id).toSorted()).toEqual([run.run_id, hookRun.run_id].toSorted())
      for (const row of failed)
        expect(row).toMatchObject({ status: 'failed', error: 'No matching runner available within timeout' })
      expect(await runs.expire(NOON + 300)).toEqual([])
      const unfinished = await at.store.takeUnfinishedRuns(1_000, NOON + 999_999)
      expect(unfinished.map((row) => row.run_id)).toContain(run.run_id)
    })

    test('a run that is pending again has its whole time to be claimed', async () => {
      const runs = await openRuns(at.store)
      await runs.create({ claim_within_ms: 300 })
      await runs.take()
      expect(await runs.expire(NOON + 1_000)).toMatchObject([{ status: 'pending' }])
      expect(await runs.expire(NOON + 1_299)).toEqual([])
      expect(await runs.expire(NOON + 1_300)).toMatchObject([{ status: 'failed' }])
    })

    test('ended runs are never repaired, and a sweep repairs at most its limit', async () => {
      const runs = await openRuns(at.store)
      for (const status of ['completed', 'failed', 'stopped'] as const) await runIn(runs, at.store, status)
      expect(await runs.expire(NOON + 999_999_999)).toEqual([])
      const time = NOON + 1_000_000_000
      for (let n = 0; n < 3; n++) await runs.create({ claim_within_ms: 1 }, time)
      const sweep = () => at.store.expireRuns({ max_attempts: 1, limit: 2, now: time + 1 })
      expect([(await sweep()).length, (await sweep()).length, (await sweep()).length]).toEqual([2, 1, 0])
    })

    test('two sweeps at once repair each run once', async () => {
      const runs = await openRuns(at.store)
      const second = await at.database.reopen()
      for (let n = 0; n < 20; n++) await runs.create({ claim_within_ms: 1 })
      const sweep = (store: Store) => store.expireRuns({ max_attempts: 1, limit: 1_000, now: NOON + 1 })
      const repaired = (await Promise.all([sweep(at.store), sweep(second), sweep(at.store)])).flat()
      const own = repaired.filter((run) => run.tenant_id === runs.tenant).map((run) => run.run_id)
      const rest = await runs.expire(NOON + 1)
      expect(new Set(own).size).toBe(own.length)
      expect(own.length + rest.length).toBe(20)
    })

    test('a runner that registers again has lost the runs that it held', async () => {
      const runs = await openRuns(at.store)
      const run = await runIn(runs, at.store, 'running')
      const kept = await runs.create({ demands: { hostname: 'none' } })
      await at.store.registerRunner(newRunner(runs.tenant, { runner_id: runs.runner_id }), NOON + 1)
      expect(await runs.expire(NOON + 1)).toMatchObject([{ run_id: run.run_id, status: 'pending' }])
      expect(await runs.find(kept)).toEqual(kept)
    })

    test('leases from a clock that was ahead are shortened to their length', async () => {
      const runs = await openRuns(at.store)
      const ahead = NOON + 365 * 86_400_000
      const waiting = await runs.create({ claim_within_ms: 300, demands: { hostname: 'none' } }, ahead)
      const held = await runs.create({}, ahead)
      await runs.take({ now: ahead })
      const longest = { lease_ms: 10, retry_ms: 20, answer_ms: 30, guard_ms: 40 }
      expect(await at.store.clampWindows(longest, NOON)).toBeGreaterThanOrEqual(2)
      expect(await runs.expire(NOON + 299)).toEqual([])
      expect(await runs.expire(NOON + 300)).toMatchObject([{ run_id: waiting.run_id }])
      expect(await runs.expire(NOON + 1_000)).toMatchObject([{ run_id: held.run_id }])
    })

    test('a runner that was seen while the clock was ahead was last seen now', async () => {
      const runs = await openRuns(at.store)
      await at.store.keepRunner(runs.tenant, runs.runner_id, 1_000, NOON + 365 * 86_400_000)
      const longest = { lease_ms: 10, retry_ms: 20, answer_ms: 30, guard_ms: 40 }
      await at.store.clampWindows(longest, NOON)
      expect(await at.store.findRunner(runs.tenant, runs.runner_id, NOON + 5)).toMatchObject({ silent_ms: 5 })
    })

    test('without a time the store asks its own clock', async () => {
      const { store } = at
      const tenant = await newTenant(store)
      const { runner_id } = await store.registerRunner(newRunner(tenant))
      const run = await store.createRun(newRun(tenant), nowhere)
      expect(Math.abs(run.created_at - Date.now())).toBeLessThan(60_000)
      await store.takeRun({ tenant, runner_id, needsHooks: [], lease_ms: 3_600_000 })
      const own = async () =>
        (await store.expireRuns({ max_attempts: 9, limit: 1_000 })).filter((row) => row.tenant_id === tenant)
      expect(await own()).toEqual([])
      await store.reportRun(tenant, run.run_id, runner_id, started)
      await store.keepRunner(tenant, runner_id, -1)
      expect(await own()).toMatchObject([{ run_id: run.run_id, status: 'pending' }])
    })
  })
})
