import { describe, expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import {
  coded,
  NOON,
  newRun,
  newRunner,
  newTenant,
  otherKeyring,
  runEvent,
} from '../../../test/store/samples.fixture.ts'
import { parseJson } from '../../safe/json.ts'
import type { Store } from '../../store/store.ts'
import type { RunFilter } from '../methods/run-methods.ts'
import type { NewRun, RunRow } from './run-tables.ts'

const nowhere = { hostname: null, executor_profile: null }

/** Reads all pages of a list. */
async function readPages<Row>(
  read: (page: { limit: number; cursor?: string }) => Promise<{ rows: readonly Row[]; nextCursor: string }>,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let cursor = ''; ; ) {
    const page = await read({ limit: 2, ...(cursor ? { cursor } : {}) })
    rows.push(...page.rows)
    if (page.nextCursor === '') return rows
    cursor = page.nextCursor
  }
}

onEachStore('runs', (open) => {
  describe('runs and their sessions', () => {
    const at = shareStore(open)
    const create = async (tenant: string, fields: Partial<NewRun> = {}, now = NOON): Promise<RunRow> =>
      at.store.createRun(newRun(tenant, fields), nowhere, now)
    const end = async (run: RunRow, now = NOON) => {
      await at.store.reportRun(run.tenant_id, run.run_id, null, { report: 'ended', status: 'completed' }, now)
      await at.store.confirmFinish(run.tenant_id, run.run_id)
    }

    test('AO-55 a run is read with everything it was created with, and so is its session', async () => {
      const tenant = await newTenant(at.store)
      const given = newRun(tenant, {
        parameters: { 'ä\0': ['\ud800', { deep: null }] },
        project_dir: '/p',
        parent_session_id: 'ses_parent',
        parent_run_id: 'run_parent',
        execution_mode: 'async_callback',
        demands: { hostname: 'h', tags: ['b', 'a'] },
        depth: 2,
        key: 'k',
      })
      const run = await at.store.createRun(given, { hostname: 'h', executor_profile: 'x' }, NOON)
      const { key: _, claim_within_ms: __, ...kept } = given
      expect(run).toEqual({
        ...kept,
        status: 'pending',
        is_prepared: false,
        timed_out: false,
        original_parameters: null,
        runner_id: null,
        attempts: 0,
        error: null,
        block_reason: null,
        hooks: 0,
        created_at: NOON,
        claimed_at: null,
        started_at: null,
        completed_at: null,
      })
      expect(await at.store.findRun(tenant, run.run_id)).toEqual(run)
      expect(await at.store.findRunByKey(tenant, 'k')).toEqual(run)
      expect(await at.store.findRun(tenant, 'run_none')).toBeUndefined()
      expect(await at.store.findRunByKey(tenant, 'none')).toBeUndefined()
      expect(await at.store.findRunSession(tenant, run.session_id)).toEqual({
        session_id: run.session_id,
        tenant_id: tenant,
        status: 'pending',
        agent_name: 'writer',
        project_dir: '/p',
        parent_session_id: 'ses_parent',
        executor_session_id: null,
        executor_profile: 'x',
        hostname: 'h',
        created_by: 'ci',
        created_at: NOON,
        last_resumed_at: null,
      })
    })

    test('numbers beyond 2⁵³ keep their digits, in parameters and in events', async () => {
      const tenant = await newTenant(at.store)
      const data = parseJson('{"id":9007199254740993}') as NewRun['parameters']
      const run = await create(tenant, { parameters: data })
      await at.store.appendRunEvents([{ ...runEvent(run), data }])
      const [event] = await at.store.listRunEvents(tenant, run, { limit: 9 })
      expect(JSON.stringify([run.parameters, event?.data])).toBe(JSON.stringify([data, data]))
    })

    test('a key creates one run, also when many ask at once on two nodes', async () => {
      const tenant = await newTenant(at.store)
      const second = await at.database.reopen()
      const runs = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? at.store : second).createRun(newRun(tenant, { key: 'same' }), nowhere, NOON),
        ),
      )
      expect(new Set(runs.map((run) => run.run_id)).size).toBe(1)
      expect((await at.store.listRuns(tenant, {}, { limit: 99 })).rows).toHaveLength(1)
      expect((await at.store.listRunSessions(tenant, {}, { limit: 99 })).rows).toHaveLength(1)
      const other = await newTenant(at.store)
      expect((await create(other, { key: 'same' })).run_id).not.toBe(runs[0]?.run_id)
    })

    test('of many that resume a session at once on two nodes one does; a key that exists returns its run', async () => {
      const tenant = await newTenant(at.store)
      const second = await at.database.reopen()
      const first = await create(tenant)
      const { session_id } = first
      const resume = (store: Store, key: string | null = null) =>
        store.createRun(newRun(tenant, { type: 'resume_session', session_id, key }), nowhere, NOON)
      await expect(resume(at.store)).rejects.toMatchObject(coded('gateway.conflict'))
      await end(first)
      const asked = Array.from({ length: 10 }, (_, n) => resume(n % 2 === 0 ? at.store : second, `k${n}`))
      const settled = await Promise.allSettled(asked)
      const refused = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []))
      expect(refused).toEqual(Array.from({ length: 9 }, () => 'gateway.conflict'))
      const [resumed] = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      const winner = settled.findIndex(({ status }) => status === 'fulfilled')
      expect((await resume(second, `k${winner}`)).run_id).toBe(resumed?.run_id)
    })

    test('a session is resumed by a later run; one that is not there is refused, and a taken id too', async () => {
      const tenant = await newTenant(at.store)
      const first = await create(tenant)
      const { session_id } = first
      await end(first)
      expect(await at.store.findRunSession(tenant, session_id)).toMatchObject({ status: 'finished' })
      await create(tenant, { type: 'resume_session', session_id }, NOON + 5)
      expect(await at.store.findRunSession(tenant, session_id)).toMatchObject({
        status: 'pending',
        last_resumed_at: NOON + 5,
      })
      await expect(create(tenant, { type: 'resume_session', session_id: 'ses_none' })).rejects.toMatchObject({
        code: 'gateway.not_found',
        message: expect.stringContaining('ses_none'),
      })
      await expect(create(tenant, { session_id })).rejects.toMatchObject(coded('store.taken'))
      await expect(create(tenant, { run_id: first.run_id })).rejects.toMatchObject(coded('store.taken'))
      expect((await at.store.listRuns(tenant, {}, { limit: 9 })).rows).toHaveLength(2)
      expect((await at.store.listRunSessions(tenant, {}, { limit: 9 })).rows).toHaveLength(1)
    })

    test('AO-58 runs are listed newest first, in pages, by every filter', async () => {
      const tenant = await newTenant(at.store)
      const runs: RunRow[] = []
      for (let n = 0; n < 5; n++)
        runs.push(await create(tenant, { agent_name: `a${n % 2}` }, NOON + (n >> 1)))
      const [a, b, c, d, e] = runs as [RunRow, RunRow, RunRow, RunRow, RunRow]
      const child = await create(tenant, { parent_session_id: a.session_id }, NOON + 9)
      const blocked = { report: 'ended', status: 'failed', error: 'x', block_reason: 'no' } as const
      await at.store.reportRun(tenant, b.run_id, null, blocked, NOON)
      await end(c)
      await at.store.appendRunEvents([runEvent(d, { event_type: 'hook_start' })])
      const list = async (filter: RunFilter) =>
        (await readPages((page) => at.store.listRuns(tenant, filter, page))).map((run) => run.run_id)
      const ids = (...some: readonly RunRow[]) => some.map((run) => run.run_id)
      expect(await list({})).toEqual(ids(child, e, d, c, b, a))
      expect(await list({ status: 'pending' })).toEqual(ids(child, e, d, a))
      expect(await list({ status: 'completed' })).toEqual(ids(c))
      expect(await list({ agent_name: 'a1' })).toEqual(ids(d, b))
      expect(await list({ agent_name: 'a1', status: 'failed' })).toEqual(ids(b))
      expect(await list({ session_id: e.session_id })).toEqual(ids(e))
      expect(await list({ session_id: e.session_id, status: 'failed' })).toEqual([])
      expect(await list({ parent_session_id: a.session_id })).toEqual(ids(child))
      expect(await list({ parent_session_id: a.session_id, session_id: a.session_id })).toEqual([])
      expect(await list({ has_hooks: true })).toEqual(ids(d))
      expect(await list({ has_hooks: false })).toEqual(ids(child, e, c, b, a))
      expect(await list({ hook_blocked: true })).toEqual(ids(b))
      expect(await list({ hook_blocked: false })).toEqual(ids(child, e, d, c, a))
      await expect(at.store.listRuns(tenant, {}, { limit: 1, cursor: 'x' })).rejects.toMatchObject(
        coded('gateway.request'),
      )
    })

    test('sessions are listed newest first, in pages, by parent and creator', async () => {
      const tenant = await newTenant(at.store)
      const ids: string[] = []
      for (let n = 0; n < 5; n++)
        ids.unshift(
          (
            await create(
              tenant,
              { parent_session_id: n > 2 ? 'p' : null, created_by: n % 2 ? 'me' : 'you' },
              NOON + n,
            )
          ).session_id,
        )
      const list = async (filter: { parent_session_id?: string; created_by?: string }) =>
        (await readPages((page) => at.store.listRunSessions(tenant, filter, page))).map(
          (row) => row.session_id,
        )
      expect(await list({})).toEqual(ids)
      expect(await list({ parent_session_id: 'p' })).toEqual(ids.slice(0, 2))
      expect(await list({ created_by: 'me' })).toEqual([ids[1], ids[3]])
      expect(await list({ created_by: 'me', parent_session_id: 'p' })).toEqual([ids[1]])
    })

    test('a session is deleted with its runs and events, but not before all have ended and confirmed it', async () => {
      const tenant = await newTenant(at.store)
      const run = await create(tenant)
      const other = await create(tenant)
      await at.store.appendRunEvents([runEvent(run), runEvent(other)])
      expect(await at.store.deleteRunSession(tenant, run.session_id)).toBe(false)
      await at.store.reportRun(tenant, run.run_id, null, { report: 'ended', status: 'failed' }, NOON)
      expect(await at.store.deleteRunSession(tenant, run.session_id)).toBe(false)
      await at.store.confirmFinish(tenant, run.run_id)
      expect(await at.store.deleteRunSession(tenant, run.session_id)).toBe(true)
      expect(await at.store.deleteRunSession(tenant, run.session_id)).toBe(false)
      expect(await at.store.findRun(tenant, run.run_id)).toBeUndefined()
      const { rows } = await at.store.tailRunEvents(tenant, { after: '0', limit: 9 })
      const left = rows.filter(({ event_type }) => event_type !== 'session_deleted')
      expect(left.map((event) => event.session_id)).toEqual([other.session_id])
    })

    test('the content of a run and its events is sealed; without the key it is absent, and the rest is there', async () => {
      const tenant = await newTenant(at.store)
      const run = await create(tenant, { agent_name: 'sealed', parameters: { text: 'hush' } })
      const runner = await at.store.registerRunner(newRunner(tenant), NOON)
      const request = {
        tenant,
        runner_id: runner.runner_id,
        needsHooks: ['sealed'],
        lease_ms: 1_000,
        now: NOON,
      }
      const taken = await at.store.takeRun(request)
      const prepared = { lease: taken?.lease ?? '', parameters: { text: 'hush, changed' }, now: NOON }
      expect(await at.store.endPreparation(tenant, run.run_id, prepared)).toBe(true)
      const failed = { report: 'ended', status: 'failed', error: 'hush e', block_reason: 'hush b' } as const
      await at.store.reportRun(tenant, run.run_id, null, failed, NOON)
      await at.store.appendRunEvents([runEvent(run, { data: { text: 'hush' } })])
      const stored = [
        ...(await at.database.execute(`select * from runs where run_id = '${run.run_id}'`)),
        ...(await at.database.execute(`select * from run_events where run_id = '${run.run_id}'`)),
      ]
      expect(stored).toHaveLength(2)
      expect(
        Object.values(stored[0] ?? {}).filter((value) => String(value).startsWith('aes-gcm:')),
      ).toHaveLength(4)
      expect(stored.flatMap(Object.values).filter((value) => String(value).includes('hush'))).toEqual([])
      expect(await at.store.findRun(tenant, run.run_id)).toMatchObject({
        parameters: { text: 'hush, changed' },
        original_parameters: { text: 'hush' },
        error: 'hush e',
        block_reason: 'hush b',
      })
      const other = await at.database.reopen(otherKeyring)
      expect(await other.findRun(tenant, run.run_id)).toMatchObject({
        status: 'failed',
        parameters: null,
        original_parameters: null,
        error: expect.stringContaining('key'),
        block_reason: expect.stringContaining('key'),
      })
      const events = await other.listRunEvents(tenant, { session_id: run.session_id }, { limit: 9 })
      expect(events).toMatchObject([{ event_type: 'message', data: null }])
    })

    test('4.11 #152 a run whose parameters no key opens fails, and the next one is taken', async () => {
      const tenant = await newTenant(at.store)
      const lost = await create(tenant)
      const other = await at.database.reopen(otherKeyring)
      const good = await other.createRun(newRun(tenant), nowhere, NOON)
      const { runner_id } = await other.registerRunner(newRunner(tenant), NOON)
      const taken = await other.takeRun({ tenant, runner_id, needsHooks: [], lease_ms: 9, now: NOON })
      expect(taken?.run.run_id).toBe(good.run_id)
      expect(await other.findRun(tenant, lost.run_id)).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('secret.unreadable'),
      })
    })
  })

  describe('runs that go', () => {
    const at = shareStore(open)
    const rowCounts = async (tenant: string) => {
      const tables = [
        'blueprints',
        'run_hooks',
        'run_sessions',
        'runs',
        'run_events',
        'runners',
        'run_event_positions',
        'deleted_run_sessions',
      ]
      const counts: number[] = []
      for (const table of tables) {
        const [row] = await at.database.execute(
          `select count(*) as n from ${table} where tenant_id = '${tenant}'`,
        )
        counts.push(Number(row?.n))
      }
      return counts
    }

    test('ended runs go with the history, with their events, sessions and lost runners', async () => {
      const { store } = at
      const tenant = await newTenant(store)
      const start = async (fields: Partial<NewRun> = {}, now = NOON) => {
        const run = await store.createRun(newRun(tenant, fields), nowhere, now)
        await store.appendRunEvents([runEvent(run), runEvent(run)])
        return run
      }
      const [old, unconfirmed, active, resumed] = [await start(), await start(), await start(), await start()]
      for (const run of [old, unconfirmed, resumed])
        await store.reportRun(tenant, run.run_id, null, { report: 'ended', status: 'stopped' }, NOON)
      for (const run of [old, resumed]) await store.confirmFinish(tenant, run.run_id)
      const { session_id } = resumed
      const young = await start({ type: 'resume_session', session_id }, NOON + 5)
      await store.registerRunner(newRunner(tenant), NOON)
      const alive = await store.registerRunner(newRunner(tenant), NOON + 5)
      const limits = { keep_executions_ms: 0, keep_deliveries_ms: NOON }
      for (const now of [NOON, NOON + 5]) {
        const deleted = await store.createRun(newRun(tenant), nowhere, NOON)
        await store.stopRun(tenant, deleted.run_id, NOON)
        await store.confirmFinish(tenant, deleted.run_id)
        await store.deleteRunSession(tenant, deleted.session_id, now)
      }
      expect(await store.prune(limits, NOON)).toBe(0)
      // Two runs with two events each, one session, one runner, one deleted session.
      expect(await store.prune(limits, NOON + 1)).toBe(9)
      const { rows } = await store.listRuns(tenant, {}, { limit: 9 })
      expect(rows.map((run) => run.run_id).toSorted()).toEqual(
        [unconfirmed, active, young].map((run) => run.run_id).toSorted(),
      )
      expect(await store.findRunSession(tenant, old.session_id)).toBeUndefined()
      expect(await store.findRunSession(tenant, session_id)).toBeDefined()
      expect(await store.listRunEvents(tenant, { session_id }, { limit: 9 })).toHaveLength(2)
      expect((await store.listRunners(tenant)).map((row) => row.runner_id)).toEqual([alive.runner_id])
    })

    test('a deleted tenant takes them all with it, and nothing of others', async () => {
      const { store } = at
      const [gone, kept] = [await newTenant(store), await newTenant(store)]
      for (const tenant of [gone, kept]) {
        await store.saveBlueprint(tenant, { name: 'b', source: 'stored', definition: {} })
        await store.saveRunHook(tenant, { name: 'h', definition: {} }, true)
        const run = await store.createRun(newRun(tenant), nowhere)
        await store.appendRunEvents([runEvent(run)])
        await store.registerRunner(newRunner(tenant))
        const removed = await store.createRun(newRun(tenant), nowhere)
        await store.stopRun(tenant, removed.run_id)
        await store.confirmFinish(tenant, removed.run_id)
        await store.deleteRunSession(tenant, removed.session_id)
      }
      await store.deleteTenant(gone)
      expect(await rowCounts(gone)).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
      expect(await rowCounts(kept)).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
      await expect(store.createRun(newRun(gone), nowhere)).rejects.toMatchObject(coded('gateway.not_found'))
    })
  })
})
