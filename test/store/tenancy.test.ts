import { createHash, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { OWNER_MEMBER } from '../../src/access/tenant-tables.ts'
import { onEachStore, shareStore } from './each-store.fixture.ts'
import {
  blueprintHook,
  coded,
  delivery,
  event,
  firing,
  hook,
  message,
  NOON,
  newRun,
  newRunner,
  newTenant,
  runEvent,
} from './samples.fixture.ts'

onEachStore('GC-106 4.10 #142 tenant A, who knows the ids of tenant B,', (open) => {
  const at = shareStore(open)

  async function both() {
    const [a, b] = [await newTenant(at.store), await newTenant(at.store)]
    const row = await at.store.createHook(hook(b), NOON)
    const token = {
      id: randomUUID(),
      tenant_id: b,
      member_id: OWNER_MEMBER,
      name: 't',
      role: 'owner' as const,
      agent_id: null,
      created_at: NOON,
      expires_at: null,
    }
    await at.store.createToken({ ...token, hash: createHash('sha256').update(token.id).digest() })
    const job = delivery(b, randomUUID())
    const given = event(b, {
      session_id: 's',
      agent_id: 'x',
      hooks: [{ hook_id: row.id, error_detail: 'd' }],
    })
    await at.store.recordEvents(
      [given],
      [job],
      [{ tenant: b, key: 'k', request_hash: 'h', answer: 'a', keep_ms: 9 }],
      NOON,
    )
    await at.store.putSecret({ tenant_id: b, name: 'n', sealed: 's', updated_at: 1 })
    await at.store.putProvider({
      tenant_id: b,
      name: 'p',
      base_url: null,
      default_model: null,
      sealed_key: null,
      updated_at: 1,
    })
    await at.store.writeSettings(b, { a: 1 }, NOON)
    const { rows } = await at.store.history(b, {}, { limit: 1 })
    return { a, b, row, token, job, given, executionId: rows[0]?.id ?? '' }
  }

  test('reads none of its rows through any method', async () => {
    const { a, row, given, executionId } = await both()
    const { store } = at
    expect((await store.listHooks(a)).filter((found) => found.id === row.id)).toEqual([])
    expect(await store.findHook(a, row.id)).toBeUndefined()
    expect(await store.loadDefinitions(a)).toMatchObject({ hooks: [], tripped: [] })
    for (const filter of [
      {},
      { hook_id: row.id },
      { event_id: given.event_id },
      { session_id: 's' },
      { agent_id: 'x' },
    ])
      expect((await store.history(a, filter, { limit: 9 })).rows).toEqual([])
    const start = await store.tail(a, undefined, 9)
    await both()
    expect((await store.tail(a, start.nextCursor, 9)).rows).toEqual([])
    expect(await store.errorDetail(a, executionId)).toBeUndefined()
    expect(await store.findEvent(a, given.event_id)).toBeUndefined()
    expect((await store.listSessions(a, {}, { limit: 9 })).rows).toEqual([])
    expect(await store.findAnswer(a, 'k', NOON)).toBeUndefined()
    expect((await store.listDeliveries(a, {}, { limit: 9 })).rows).toEqual([])
    expect(await store.listTokens(a)).toEqual([])
    expect(await store.listSecrets(a)).toEqual([])
    expect(await store.listProviders(a)).toEqual([])
    expect(await store.readSettings(a)).toEqual({})
  })

  test('changes none of its rows through any method', async () => {
    const { a, b, row, token, job } = await both()
    const { store } = at
    expect(await store.updateHook(a, row.id, { version: 1, hook: row }, NOON)).toBe('missing')
    expect(await store.toggleHook(a, row.id, { enabled: false }, NOON)).toBe('missing')
    expect(await store.tripHook(a, row.id, 'timeout', NOON)).toBe(false)
    expect(await store.deleteHook(a, row.id)).toBe(false)
    expect(await store.deleteToken(a, token.id)).toBe(false)
    expect(await store.deleteSecret(a, 'n')).toBe(false)
    expect(await store.deleteProvider(a, 'p')).toBe(false)
    const [claimed] = await store.claimDeliveries({
      kinds: [job.kind],
      limit: 1,
      now: NOON,
      lease_ms: 1,
      worker: 'w',
    })
    await store.endDeliveries([{ id: job.id, lease: claimed?.lease ?? '', end: 'dead', error: 'x' }], NOON)
    expect(await store.replayDeliveries(a, [job.id], NOON)).toBe(0)
    expect(await store.replayDeliveries(a, 'all', NOON)).toBe(0)
    expect(await store.findHook(b, row.id)).toEqual(row)
    expect(await store.listTokens(b)).toEqual([token])
    expect(await store.listSecrets(b)).toHaveLength(1)
    expect(await store.listProviders(b)).toHaveLength(1)
    expect((await store.listDeliveries(b, { state: 'dead' }, { limit: 9 })).rows).toHaveLength(1)
  })

  async function bothWithRuns() {
    const { store } = at
    const [a, b] = [await newTenant(store), await newTenant(store)]
    const definition = { description: 'of b' }
    await store.saveBlueprint(b, { name: 'n', source: 'stored', definition, hooks: [blueprintHook()] })
    await store.saveRunHook(b, { name: 'n', definition }, true)
    const runner = await store.registerRunner(newRunner(b), NOON)
    const nowhere = { hostname: null, executor_profile: null }
    const waiting = await store.createRun(newRun(b, { key: 'k' }), nowhere, NOON)
    const request = { tenant: b, runner_id: runner.runner_id, lease_ms: 1_000, now: NOON }
    const taken = await store.takeRun({ ...request, needsHooks: ['writer'] })
    const pending = await store.createRun(newRun(b), nowhere, NOON)
    await store.appendRunEvents([runEvent(waiting)])
    return { a, b, runner, request, preparing: waiting, pending, lease: taken?.lease ?? '' }
  }

  test('finds none of its blueprints, runs, sessions, events and runners', async () => {
    const { a, runner, preparing } = await bothWithRuns()
    const { store } = at
    const { run_id, session_id } = preparing
    expect(await store.findBlueprint(a, 'n')).toBeUndefined()
    expect(await store.listBlueprints(a)).toEqual([])
    expect(await store.findRunHook(a, 'n')).toBeUndefined()
    expect(await store.listRunHooks(a)).toEqual([])
    expect(await store.findRun(a, run_id)).toBeUndefined()
    expect(await store.findRunByKey(a, 'k')).toBeUndefined()
    expect(await store.findRunOfExecutor(a, 'exec-b')).toBeUndefined()
    for (const filter of [{}, { session_id }, { agent_name: 'writer' }, { status: 'pending' }] as const)
      expect((await store.listRuns(a, filter, { limit: 9 })).rows).toEqual([])
    expect(await store.findRunSession(a, session_id)).toBeUndefined()
    expect((await store.listRunSessions(a, {}, { limit: 9 })).rows).toEqual([])
    expect(await store.findRunner(a, runner.runner_id)).toBeUndefined()
    expect(await store.listRunners(a)).toEqual([])
    expect(await store.listRunEvents(a, { session_id }, { limit: 9 })).toEqual([])
    expect(await store.tailRunEvents(a, { after: '0', limit: 9 })).toEqual({ rows: [], position: '0' })
    expect(await store.tailRunEvents(a, { limit: 9 })).toEqual({ rows: [], position: '0' })
  })

  test('takes, prepares, reports, stops and deletes none of its runs', async () => {
    const { a, b, runner, request, preparing, pending, lease } = await bothWithRuns()
    const { store } = at
    const { runner_id } = runner
    const { run_id, session_id } = preparing
    const stateOfB = async () => ({
      runs: (await store.listRuns(b, {}, { limit: 9 })).rows,
      sessions: (await store.listRunSessions(b, {}, { limit: 9 })).rows,
      runners: await store.listRunners(b),
      blueprints: await store.listBlueprints(b),
      named: await store.listRunHooks(b),
      hooks: (await store.loadDefinitions(b)).hooks,
      events: (await store.tailRunEvents(b, { after: '0', limit: 9 })).rows,
    })
    const before = await stateOfB()
    expect(before).toMatchObject({ runs: [{}, {}], hooks: [{}], events: [{}] })
    const ended = { report: 'ended', status: 'completed' } as const
    expect(await store.takeRun({ ...request, tenant: a, needsHooks: [] })).toBeUndefined()
    await store.registerRunner({ ...runner, tenant_id: a }, NOON + 1)
    expect(await store.takeRun({ ...request, tenant: a, needsHooks: [] })).toBeUndefined()
    await store.keepRunner(a, runner_id, 9_000, NOON + 9)
    await store.markRunnerLeaving(a, runner_id)
    expect(await store.stoppingSessions(a, runner_id)).toEqual([])
    await store.removeRunner(a, runner_id)
    expect(await store.extendPreparation(a, run_id, lease, 9_000, NOON)).toBe(false)
    expect(await store.endPreparation(a, run_id, { lease, now: NOON })).toBe(false)
    for (const { run_id: id } of [preparing, pending]) {
      expect(await store.reportRun(a, id, null, ended, NOON)).toBeUndefined()
      expect(await store.stopRun(a, id, NOON)).toBeUndefined()
      await store.confirmFinish(a, id)
    }
    expect(await store.deleteRunSession(a, session_id)).toBe(false)
    await expect(store.appendRunEvents([runEvent({ ...preparing, tenant_id: a })])).rejects.toMatchObject(
      coded('gateway.not_found'),
    )
    const resume = newRun(a, { type: 'resume_session', session_id })
    await expect(
      store.createRun(resume, { hostname: null, executor_profile: null }, NOON),
    ).rejects.toMatchObject(coded('gateway.not_found'))
    expect(await store.deleteBlueprint(a, 'n')).toBe(false)
    expect(await store.deleteRunHook(a, 'n')).toBe(false)
    await store.saveBlueprint(a, { name: 'n', source: 'file', definition: {}, hooks: [] })
    expect(await store.saveRunHook(a, { name: 'n', definition: {} }, false)).toBeUndefined()
    expect(await stateOfB()).toEqual(before)
  })

  test('reads and changes none of its rules, teams, environments, mailboxes and firings', async () => {
    const { store } = at
    const [a, b] = [await newTenant(store), await newTenant(store)]
    const definition = { text: 'of b' }
    await store.createRule(b, { rule_id: 'n', definition, enabled: true, created_by: null })
    await store.saveTeam(b, { name: 'n', definition }, true)
    await store.saveEnvironment(b, { name: 'n', definition }, true)
    const posted = message({ team: 'n' })
    await store.postMessages(b, [posted], [])
    const given = firing(b)
    await store.fireRule(given, NOON)
    const stateOf = async (tenant: string) => ({
      rules: await store.listRules(tenant),
      teams: await store.listTeams(tenant),
      environments: await store.listEnvironments(tenant),
      mailbox: (await store.listMailbox(tenant, {}, { limit: 9 })).rows,
      firings: (await store.listFirings(tenant, {}, { limit: 9 })).rows,
    })
    const before = await stateOf(b)
    expect(Object.values(before).map((rows) => rows.length)).toEqual([1, 1, 1, 1, 1])
    expect(Object.values(await stateOf(a)).flat()).toEqual([])
    expect(await store.findRule(a, 'n')).toBeUndefined()
    expect(await store.findTeam(a, 'n')).toBeUndefined()
    expect(await store.findEnvironment(a, 'n')).toBeUndefined()
    expect(await store.findMessage(a, posted.message_id)).toBeUndefined()
    expect(await store.findFiring(a, given.firing_id)).toBeUndefined()
    expect(await store.updateRule(a, 'n', { enabled: false })).toBe('missing')
    expect(await store.deleteRule(a, 'n')).toBe(false)
    expect(await store.saveTeam(a, { name: 'n', definition: {} }, false)).toBeUndefined()
    expect(await store.deleteTeam(a, 'n')).toBe(false)
    expect(await store.saveEnvironment(a, { name: 'n', definition: {} }, false)).toBeUndefined()
    expect(await store.deleteEnvironment(a, 'n')).toBe(false)
    expect(await store.markRead(a, [posted.message_id])).toBe(0)
    expect(await store.deleteMessage(a, posted.message_id)).toBe(false)
    expect(await store.startAction(a, given.firing_id, 0)).toBe(false)
    const end = { position: 0, status: 'failed', reason: null, detail: null, run_id: null } as const
    expect(await store.endAction(a, given.firing_id, end)).toBe(false)
    // The same rule of another tenant has a cooldown of its own.
    expect(await store.fireRule(firing(a, { firing_id: given.firing_id }), NOON)).toHaveProperty('firing')
    expect(await stateOf(b)).toEqual(before)
  })

  test('shares no guard, budget, dedup key, event id or session with it', async () => {
    const { a, b, job, given } = await both()
    const { store } = at
    const guard = [{ kind: 'cooldown', key: 'same', windowMs: 1_000 }] as const
    expect(await store.takeGuards(b, guard, NOON)).toEqual([{ pass: true }])
    expect(await store.takeGuards(a, guard, NOON)).toEqual([{ pass: true }])
    await store.spendBudget(b, 70, 100, NOON)
    expect(await store.readBudget(a, 100, NOON)).toMatchObject({ remaining: 100 })
    await store.recordEvents(
      [{ ...given, tenant: a }],
      [delivery(a, job.kind, { dedup_key: job.dedup_key })],
      [{ tenant: a, key: 'k', request_hash: 'other', answer: 'other', keep_ms: 9 }],
      NOON,
    )
    expect((await store.history(a, {}, { limit: 9 })).rows).toHaveLength(1)
    expect((await store.listDeliveries(a, {}, { limit: 9 })).rows).toHaveLength(1)
    expect(await store.findAnswer(a, 'k', NOON)).toMatchObject({ answer: 'other' })
    expect(await store.findAnswer(b, 'k', NOON)).toMatchObject({ answer: 'a' })
    expect((await store.listSessions(b, {}, { limit: 9 })).rows).toMatchObject([{ events: 1 }])
  })
})
