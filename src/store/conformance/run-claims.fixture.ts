import { describe, expect, test } from 'vitest'
import type {
  NewRun,
  RunDemands,
  RunnerOffer,
  RunRow,
  RunStatus,
  TakenRun,
} from '../../runs/stored/run-tables.ts'
import type { Store } from '../store.ts'
import { NOON, newRun, newRunner, newTenant, type OpenStoreUnderTest } from './samples.fixture.ts'
import { shareStore } from './shared-store.fixture.ts'

const nowhere = { hostname: null, executor_profile: null }
const LEASE_MS = 1_000
const ended = (status: 'completed' | 'failed' | 'stopped') => ({ report: 'ended', status }) as const
const started = { report: 'started' } as const

/** A tenant with one runner, and short forms of the calls that its tests repeat. */
async function openRuns(store: Store, offer: Partial<RunnerOffer> = {}) {
  const tenant = await newTenant(store)
  const { runner_id } = await store.registerRunner(newRunner(tenant, offer), NOON)
  const take = (fields: { needsHooks?: readonly string[]; now?: number; runner_id?: string } = {}) =>
    store.takeRun({ tenant, runner_id, needsHooks: [], lease_ms: LEASE_MS, now: NOON, ...fields })
  return {
    tenant,
    runner_id,
    take,
    create: (fields: Partial<NewRun> = {}, now = NOON) =>
      store.createRun(newRun(tenant, fields), nowhere, now),
    find: async (run: RunRow) => (await store.findRun(tenant, run.run_id)) as RunRow,
    session: (run: RunRow) => store.findRunSession(tenant, run.session_id),
    /** Only the changed runs of this tenant, because the sweep repairs those of all. */
    expire: async (now: number, max_attempts = 3) =>
      (await store.expireRuns({ max_attempts, limit: 1_000, now })).filter((run) => run.tenant_id === tenant),
    started: (run: RunRow, now = NOON) => store.reportRun(tenant, run.run_id, runner_id, started, now),
  }
}

export function runClaimConformance(open: OpenStoreUnderTest): void {
  claims(open)
  preparations(open)
  reports(open)
  leases(open)
}

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

function claims(open: OpenStoreUnderTest): void {
  describe('taking runs', () => {
    const at = shareStore(open)

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
}

function preparations(open: OpenStoreUnderTest): void {
  describe('preparing runs', () => {
    const at = shareStore(open)
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
}

/** Brings a new run into a state. */
async function runIn(
  runs: Awaited<ReturnType<typeof openRuns>>,
  store: Store,
  status: RunStatus,
): Promise<RunRow> {
  const run = await runs.create()
  const report = (given: Parameters<Store['reportRun']>[3]) =>
    store.reportRun(runs.tenant, run.run_id, runs.runner_id, given, NOON)
  if (status === 'preparing') await runs.take({ needsHooks: ['writer'] })
  else if (status !== 'pending') await runs.take()
  if (status === 'running' || status === 'stopping') await report(started)
  if (status === 'stopping') await store.stopRun(runs.tenant, run.run_id, NOON)
  if (status === 'completed' || status === 'failed' || status === 'stopped') await report(ended(status))
  return runs.find(run)
}

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

function reports(open: OpenStoreUnderTest): void {
  describe('reports and stops', () => {
    const at = shareStore(open)

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
}

const CLAIM_WITHIN_MS = newRun('').claim_within_ms

const abandonedCases = (['pending', 'preparing', 'claimed', 'running', 'stopping'] as const).flatMap((from) =>
  (['its runner is gone', 'its coordinator is gone', 'its runner is removed'] as const).map((cause) => {
    const to = { pending: 'failed', stopping: 'stopped' } as const
    return [from, cause, from === 'pending' || from === 'stopping' ? to[from] : 'pending'] as const
  }),
)

function leases(open: OpenStoreUnderTest): void {
  describe('leases of runs', () => {
    const at = shareStore(open)

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
}
