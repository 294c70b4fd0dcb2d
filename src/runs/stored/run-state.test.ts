import { describe, expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import { ended, LEASE_MS, openRuns, runIn, started } from '../../../test/store/runs-of-runner.fixture.ts'
import { NOON, newRunner } from '../../../test/store/samples.fixture.ts'
import type { Store } from '../../store/store.ts'
import type { RunStatus } from './run-tables.ts'

const stopCases: readonly (readonly [RunStatus, RunStatus, boolean])[] = [
  ['pending', 'stopped', true],
  ['preparing', 'stopped', true],
  ['claimed', 'stopping', true],
  ['running', 'stopping', true],
  ['stopping', 'stopping', false],
  ['completed', 'completed', false],
  ['failed', 'failed', false],
  ['stopped', 'stopped', false],
]

onEachStore('states of runs', (open) => {
  const at = shareStore(open)

  describe('preparing runs', () => {
    const needsHooks = ['writer']

    test('AO-9 a run with start hooks is prepared by one poll, and started by any later one', async () => {
      const { tenant, take, create, find } = await openRuns(at.store)
      const other = await at.store.registerRunner(newRunner(tenant), NOON)
      const run = await create()
      const taken = await take({ needsHooks })
      expect(taken).toMatchObject({
        next: 'prepare',
        run: { status: 'preparing', runner_id: null, attempts: 0 },
      })
      expect(await take({ needsHooks })).toBeUndefined()
      expect(await at.store.endPreparation(tenant, run.run_id, { lease: 'forged' })).toBe(false)
      const lease = taken?.lease ?? ''
      expect(await at.store.endPreparation(tenant, run.run_id, { lease, now: NOON })).toBe(true)
      expect(await at.store.endPreparation(tenant, run.run_id, { lease, now: NOON })).toBe(false)
      expect(await find(run)).toEqual({ ...run, is_prepared: true })
      expect(await take({ needsHooks, runner_id: other.runner_id })).toMatchObject({
        next: 'start',
        run: { run_id: run.run_id, status: 'claimed', runner_id: other.runner_id },
      })
    })

    test('AO-32 runs of hooks, of other agents and of no agent need no preparation', async () => {
      const { take, create } = await openRuns(at.store)
      for (const fields of [{ hook_point: 'run_start' }, { agent_name: 'other' }, { agent_name: null }]) {
        await create(fields)
        expect(await take({ needsHooks })).toMatchObject({ next: 'start', run: fields })
      }
    })

    test('AO-24 changed parameters replace those of the run, and the original is kept', async () => {
      const { tenant, take, create, find } = await openRuns(at.store)
      const run = await create({ parameters: { n: 1 } })
      const taken = await take({ needsHooks })
      const end = { lease: taken?.lease ?? '', parameters: { n: 2 }, now: NOON }
      await at.store.endPreparation(tenant, run.run_id, end)
      expect(await find(run)).toMatchObject({ parameters: { n: 2 }, original_parameters: { n: 1 } })
      expect(await take({ needsHooks })).toMatchObject({ run: { parameters: { n: 2 } } })
    })

    test('AO-33 a preparation that was lost is taken again, and the late coordinator changes nothing', async () => {
      const { tenant, take, create, find, expire } = await openRuns(at.store)
      const run = await create()
      const first = await take({ needsHooks })
      const lease = first?.lease ?? ''
      expect(await at.store.extendPreparation(tenant, run.run_id, lease, LEASE_MS, NOON + 500)).toBe(true)
      expect(await expire(NOON + 1_499)).toEqual([])
      expect(await expire(NOON + 1_500)).toMatchObject([{ run_id: run.run_id, status: 'pending' }])
      expect(await at.store.extendPreparation(tenant, run.run_id, lease, LEASE_MS, NOON)).toBe(false)
      const second = await take({ needsHooks, now: NOON + 2_000 })
      expect(second).toMatchObject({ next: 'prepare', run: { run_id: run.run_id } })
      expect(second?.lease).not.toBe(lease)
      expect(await at.store.extendPreparation(tenant, run.run_id, lease, 99_000, NOON)).toBe(false)
      const late = { lease, parameters: { late: true }, now: NOON }
      expect(await at.store.endPreparation(tenant, run.run_id, late)).toBe(false)
      expect(await find(run)).toMatchObject({ status: 'preparing', parameters: { text: 'hello' } })
      expect(await expire(NOON + 3_000, 2)).toMatchObject([
        { status: 'failed', error: expect.stringContaining('2') },
      ])
    })

    test('AO-33 slow hooks take nothing from the time in which a runner must claim the run', async () => {
      const { tenant, take, create, expire } = await openRuns(at.store)
      const run = await create({ claim_within_ms: 100 })
      const taken = await take({ needsHooks })
      expect(await expire(NOON + 999)).toEqual([])
      const end = { lease: taken?.lease ?? '', now: NOON + 900 }
      expect(await at.store.endPreparation(tenant, run.run_id, end)).toBe(true)
      expect(await expire(NOON + 999)).toEqual([])
      expect(await expire(NOON + 1_000)).toMatchObject([{ status: 'failed' }])
    })

    test('AO-25 the coordinator fails a run that a hook blocked while it was prepared', async () => {
      const { tenant, take, create, session } = await openRuns(at.store)
      const run = await create()
      const taken = await take({ needsHooks })
      const blocked = { ...ended('failed'), error: 'Blocked', block_reason: 'not you' }
      expect(await at.store.reportRun(tenant, run.run_id, null, blocked, NOON)).toMatchObject({
        changed: true,
        run: { status: 'failed', error: 'Blocked', block_reason: 'not you', completed_at: NOON },
      })
      expect(await session(run)).toMatchObject({ status: 'failed' })
      expect(await at.store.endPreparation(tenant, run.run_id, { lease: taken?.lease ?? '' })).toBe(false)
    })
  })

  describe('reports and stops', () => {
    test('AO-51 AO-52 a started run is running, and so is its session; a repeated report changes nothing', async () => {
      const { tenant, runner_id, create, take, session, find } = await openRuns(at.store)
      const run = await create()
      await take()
      const report = { ...started, executor_session_id: 'exec-1' }
      const first = await at.store.reportRun(tenant, run.run_id, runner_id, report, NOON + 1)
      expect(first).toMatchObject({ changed: true, run: { status: 'running', started_at: NOON + 1 } })
      expect(await session(run)).toMatchObject({ status: 'running', executor_session_id: 'exec-1' })
      const again = await at.store.reportRun(tenant, run.run_id, runner_id, started, NOON + 2)
      expect(again).toEqual({ changed: false, run: first?.run })
      expect(await find(run)).toEqual(first?.run)
      expect(await session(run)).toMatchObject({ executor_session_id: 'exec-1' })
    })

    test.each([
      ['completed', 'finished'],
      ['failed', 'failed'],
      ['stopped', 'stopped'],
    ] as const)('AO-51 a run ends as %s once, and its session is %s', async (status, after) => {
      const runs = await openRuns(at.store)
      const run = await runIn(runs, at.store, 'running')
      const { tenant, runner_id, session } = runs
      const report = { ...ended(status), error: 'why' }
      const first = await at.store.reportRun(tenant, run.run_id, runner_id, report, NOON + 1)
      expect(first).toMatchObject({
        changed: true,
        run: { status, error: 'why', completed_at: NOON + 1, runner_id },
      })
      expect(await session(run)).toMatchObject({ status: after })
      for (const repeated of [report, ended('failed'), ended('completed'), started])
        expect(await at.store.reportRun(tenant, run.run_id, runner_id, repeated, NOON + 2)).toEqual({
          changed: false,
          run: first?.run,
        })
      expect(await session(run)).toMatchObject({ status: after })
    })

    test('AO-60 a report may tell that the run took too long', async () => {
      const runs = await openRuns(at.store)
      const [late, broken] = [
        await runIn(runs, at.store, 'running'),
        await runIn(runs, at.store, 'running'),
      ] as const
      const { tenant, runner_id, find } = runs
      await at.store.reportRun(tenant, late.run_id, runner_id, { ...ended('failed'), timed_out: true }, NOON)
      await at.store.reportRun(tenant, broken.run_id, runner_id, ended('failed'), NOON)
      expect(await find(late)).toMatchObject({ status: 'failed', timed_out: true })
      expect(await find(broken)).toMatchObject({ status: 'failed', timed_out: false })
    })

    test('AO-60 a run is found by the session id of its executor until it ends', async () => {
      const runs = await openRuns(at.store)
      const run = await runIn(runs, at.store, 'running')
      const { tenant, runner_id } = runs
      const search = (id: string) => at.store.findRunOfExecutor(tenant, id)
      expect(await search('exec-7')).toBeUndefined()
      const report = { ...started, executor_session_id: 'exec-7' }
      await at.store.reportRun(tenant, run.run_id, runner_id, report, NOON)
      expect(await search('exec-7')).toMatchObject({ run_id: run.run_id })
      expect(await search('exec-8')).toBeUndefined()
      await at.store.reportRun(tenant, run.run_id, runner_id, ended('completed'), NOON)
      expect(await search('exec-7')).toBeUndefined()
    })

    test('AO-35 a report may name the status of the session', async () => {
      const runs = await openRuns(at.store)
      const run = await runIn(runs, at.store, 'running')
      const report = { ...ended('completed'), session_status: 'idle' } as const
      await at.store.reportRun(runs.tenant, run.run_id, runs.runner_id, report, NOON)
      expect(await runs.session(run)).toMatchObject({ status: 'idle' })
    })

    test('only the runner that holds a run may report it, or the coordinator', async () => {
      const runs = await openRuns(at.store)
      const { tenant } = runs
      for (const status of ['pending', 'preparing', 'claimed', 'running', 'stopping', 'completed'] as const) {
        const run = await runIn(runs, at.store, status)
        for (const report of [started, ended('completed')])
          expect(await at.store.reportRun(tenant, run.run_id, 'lnch_other', report, NOON)).toBeUndefined()
        expect(await runs.find(run)).toEqual(run)
        const byCoordinator = await at.store.reportRun(tenant, run.run_id, null, ended('failed'), NOON)
        expect(byCoordinator?.changed).toBe(status !== 'completed')
      }
      expect(await at.store.reportRun(tenant, 'run_none', null, started, NOON)).toBeUndefined()
    })

    test.each(stopCases)('AO-52 a stop while %s makes it %s', async (from, to, changed) => {
      const runs = await openRuns(at.store)
      const run = await runIn(runs, at.store, from)
      expect(run.status).toBe(from)
      const stopped = await at.store.stopRun(runs.tenant, run.run_id, NOON + 1)
      expect(stopped).toMatchObject({ changed, run: { status: to } })
      if (!changed) expect(stopped?.run).toEqual(run)
      else if (to === 'stopped') {
        expect(stopped?.run.completed_at).toBe(NOON + 1)
        expect(await runs.session(run)).toMatchObject({ status: 'stopped' })
      }
      const isHeld = to === 'stopping'
      const told = await at.store.stoppingSessions(runs.tenant, runs.runner_id)
      expect(told).toEqual(isHeld ? [run.session_id] : [])
      expect(await at.store.stoppingSessions(runs.tenant, 'lnch_other')).toEqual([])
      const repeated = await at.store.stopRun(runs.tenant, run.run_id, NOON + 2)
      expect(repeated).toEqual({ changed: false, run: stopped?.run })
    })

    test('the waiting runs of a session stop, and those that a runner has do not', async () => {
      const runs = await openRuns(at.store)
      for (const [status, stops] of [
        ['pending', true],
        ['preparing', true],
        ['claimed', false],
        ['running', false],
      ] as const) {
        const run = await runIn(runs, at.store, status)
        const stopped = await at.store.stopWaitingRuns(runs.tenant, run.session_id, NOON + 1)
        expect(stopped).toMatchObject(
          stops ? [{ run_id: run.run_id, status: 'stopped', completed_at: NOON + 1 }] : [],
        )
        expect(await runs.session(run)).toMatchObject(stops ? { status: 'stopped' } : {})
      }
    })

    test('a runner that is silent for too long is removed', async () => {
      const runs = await openRuns(at.store)
      const { tenant, runner_id } = runs
      await at.store.keepRunner(tenant, runner_id, 1_000, NOON)
      await at.store.removeSilentRunners(5_000, NOON + 5_000)
      expect(await at.store.findRunner(tenant, runner_id, NOON)).toMatchObject({ runner_id })
      await at.store.removeSilentRunners(5_000, NOON + 5_001)
      expect(await at.store.findRunner(tenant, runner_id, NOON)).toBeUndefined()
    })

    test('a run that stops before it reported its start stays stopping until it ends', async () => {
      const runs = await openRuns(at.store)
      const { tenant, runner_id } = runs
      const run = await runIn(runs, at.store, 'claimed')
      await at.store.stopRun(tenant, run.run_id, NOON)
      const report = { ...started, executor_session_id: 'exec' }
      expect(await at.store.reportRun(tenant, run.run_id, runner_id, report, NOON)).toMatchObject({
        changed: false,
        run: { status: 'stopping' },
      })
      expect(await runs.session(run)).toMatchObject({ executor_session_id: 'exec' })
      expect(await at.store.reportRun(tenant, run.run_id, runner_id, ended('stopped'), NOON)).toMatchObject({
        changed: true,
        run: { status: 'stopped' },
      })
      expect(await at.store.stopRun(tenant, 'run_none', NOON)).toBeUndefined()
    })

    test('AO-36 every ended run waits for its finish until it is confirmed, the oldest first', async () => {
      const runs = await openRuns(at.store)
      const open = await runIn(runs, at.store, 'running')
      const [b, a] = [await runs.create(), await runs.create()]
      await at.store.reportRun(runs.tenant, a.run_id, null, ended('failed'), NOON + 1)
      await at.store.stopRun(runs.tenant, b.run_id, NOON + 2)
      let time = NOON + 60_000
      const waiting = async () => {
        time += 10_000
        return (await at.store.takeUnfinishedRuns(1_000, time))
          .filter((run) => run.tenant_id === runs.tenant)
          .map((run) => run.run_id)
      }
      expect(await waiting()).toEqual([a.run_id, b.run_id])
      expect(await at.store.takeUnfinishedRuns(1, time + 10_000)).toHaveLength(1)
      time += 10_000
      await at.store.confirmFinish(runs.tenant, open.run_id)
      await at.store.confirmFinish(runs.tenant, a.run_id)
      expect(await waiting()).toEqual([b.run_id])
      await at.store.reportRun(runs.tenant, a.run_id, null, ended('failed'), NOON + 3)
      expect(await waiting()).toEqual([b.run_id])
      await at.store.reportRun(runs.tenant, open.run_id, null, ended('completed'), NOON + 3)
      expect(await waiting()).toEqual([b.run_id, open.run_id])
    })

    test('a run is finished by the node that ended it, and after ten seconds by one other at a time', async () => {
      const runs = await openRuns(at.store)
      const second = await at.database.reopen()
      const run = await runIn(runs, at.store, 'running')
      await at.store.reportRun(runs.tenant, run.run_id, null, ended('completed'), NOON)
      const take = async (store: Store, now: number) =>
        (await store.takeUnfinishedRuns(1_000, now)).filter((row) => row.run_id === run.run_id).length
      expect(await take(second, NOON + 9_999)).toBe(0)
      const taken = await Promise.all([at.store, second, at.store].map((store) => take(store, NOON + 10_000)))
      expect(taken.reduce((sum, count) => sum + count)).toBe(1)
      expect(await take(second, NOON + 19_999)).toBe(0)
      expect(await take(second, NOON + 20_000)).toBe(1)
    })

    test('a callback that waits for its parent is due when a run of the parent ends', async () => {
      const runs = await openRuns(at.store)
      const parent = await runIn(runs, at.store, 'running')
      const link = { parent_session_id: parent.session_id }
      const child = await runs.create({ ...link, execution_mode: 'async_callback' })
      const other = await runs.create(link)
      for (const { run_id } of [child, other])
        await at.store.reportRun(runs.tenant, run_id, null, ended('failed'), NOON)
      await at.store.reportRun(runs.tenant, parent.run_id, null, ended('completed'), NOON + 5)
      const due = (await at.store.takeUnfinishedRuns(1_000, NOON + 5)).map(({ run_id }) => run_id)
      expect(due).toContain(child.run_id)
      expect(due).not.toContain(other.run_id)
    })
  })
})
