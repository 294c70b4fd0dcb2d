import { createHash, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import {
  delivery,
  event,
  execution,
  hook,
  NOON,
  newTenant,
  otherKeyring,
} from '../../../test/store/samples.fixture.ts'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')

onEachStore('recorded events', (open) => {
  const at = shareStore(open)

  test('GC-92 each execution is one row with all of its columns', async () => {
    const tenant = await newTenant(at.store)
    const { id: hook_id } = await at.store.createHook(hook(tenant), NOON)
    const metadata = { matcher_matched: true, http_status: 500, z: { b: 1, a: 'ä\u0000' } }
    const given = event(tenant, {
      session_id: 'session',
      agent_id: 'agent',
      hooks: [
        { hook_id, decision: 'error', code: 'outbound.status', error: 'HTTP 500', retry: 1, metadata },
        { decision: 'block', shadow: true, error_detail: 'all of it' },
      ],
    })
    await at.store.recordEvents([given], [], [])
    const { rows } = await at.store.history(tenant, {}, { limit: 10 })
    expect(rows).toHaveLength(2)
    expect(rows[1]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tenant_id: tenant,
      hook_id,
      event_id: given.event_id,
      event: 'pre_tool_use',
      handler_type: 'http',
      session_id: 'session',
      agent_id: 'agent',
      input_hash: sha('Bash\0{}'),
      decision: 'error',
      duration_ms: 1.25,
      retry: 1,
      dedup_key: `${hook_id}:${given.event_id}`,
      code: 'outbound.status',
      error: 'HTTP 500',
      shadow: false,
      metadata,
      created_at: NOON,
    })
    expect(rows[0]).toMatchObject({ shadow: true, decision: 'block', hook_id: null })
    expect(await at.store.errorDetail(tenant, rows[0]?.id ?? '')).toBe('all of it')
    expect(await at.store.errorDetail(tenant, rows[1]?.id ?? '')).toBeUndefined()
    expect(await at.store.errorDetail(tenant, 'no id')).toBeUndefined()
  })

  test('GC-93 writing a group twice changes nothing', async () => {
    const tenant = await newTenant(at.store)
    const kind = randomUUID()
    const group = [event(tenant, { session_id: 's', hooks: [{}, {}] })]
    const deliveries = [delivery(tenant, kind)]
    const answers = [kept(tenant, { key: 'k' })]
    await at.store.recordEvents(group, deliveries, answers)
    const before = await everything()
    await at.store.recordEvents(group, deliveries, answers)
    expect(await everything()).toEqual(before)
    expect(before.sessions.rows).toMatchObject([{ events: 1 }])
    expect((await at.store.verifyAudit()).broken).toBeUndefined()

    async function everything() {
      return {
        history: await at.store.history(tenant, {}, { limit: 10 }),
        sessions: await at.store.listSessions(tenant, {}, { limit: 10 }),
        deliveries: await at.store.listDeliveries(tenant, {}, { limit: 10 }),
        answer: await at.store.findAnswer(tenant, 'k', NOON),
      }
    }
  })

  test('what ran later for an event that is there is added to it', async () => {
    const tenant = await newTenant(at.store)
    const first = event(tenant, { session_id: 's', hooks: [{}] })
    await at.store.recordEvents([first], [], [])
    const later = event(tenant, { ...first, answer: 'other', hooks: [{}] })
    await at.store.recordEvents(
      [{ ...first, executions: [...first.executions, execution(first.event_id)] }],
      [],
      [],
    )
    await at.store.recordEvents([later], [], [])
    expect((await at.store.history(tenant, {}, { limit: 10 })).rows).toHaveLength(2)
    expect(await at.store.findEvent(tenant, first.event_id)).toMatchObject({ answer: first.answer })
    expect((await at.store.listSessions(tenant, {}, { limit: 1 })).rows).toMatchObject([{ events: 1 }])
  })

  test('a group with the same event twice writes it once', async () => {
    const tenant = await newTenant(at.store)
    const one = event(tenant, { session_id: 's', hooks: [{}] })
    await at.store.recordEvents([one, one], [], [])
    expect((await at.store.history(tenant, {}, { limit: 10 })).rows).toHaveLength(1)
    expect((await at.store.listSessions(tenant, {}, { limit: 1 })).rows).toMatchObject([{ events: 1 }])
    expect((await at.store.verifyAudit()).broken).toBeUndefined()
  })

  test('a group is written as a whole or not at all', async () => {
    const tenant = await newTenant(at.store)
    const kind = randomUUID()
    const good = event(tenant, { hooks: [{}] })
    // A column that takes no null, past the types.
    const bad = { ...delivery(tenant, kind), dedup_key: null as unknown as string }
    await expect(at.store.recordEvents([good], [delivery(tenant, kind), bad], [])).rejects.toThrow()
    expect((await at.store.history(tenant, {}, { limit: 10 })).rows).toEqual([])
    expect(await at.store.findEvent(tenant, good.event_id)).toBeUndefined()
    expect(await at.store.nextDelivery([kind], NOON)).toBeUndefined()
    await at.store.recordEvents([good], [], [])
    expect((await at.store.verifyAudit()).broken).toBeUndefined()
  })

  test('an empty group is written too', async () => {
    await expect(at.store.recordEvents([], [], [])).resolves.toBeUndefined()
  })

  test.each([
    [
      'the tool and its input, keys sorted',
      { tool_name: 'T', tool_input: { b: 1, a: [2] } },
      'T\0{"a":[2],"b":1}',
    ],
    ['an empty input', { tool_name: 'T', tool_input: {} }, 'T\0{}'],
    ['no input, which is null', { tool_name: 'T' }, 'T\0null'],
    ['no tool', { prompt: 'hi' }, '\0null'],
  ])('GC-94 the input hash is that of %s', async (_, payload, text) => {
    const tenant = await newTenant(at.store)
    await at.store.recordEvents(
      [event(tenant, { request: JSON.stringify({ event: 'e', payload }), hooks: [{}] })],
      [],
      [],
    )
    const { rows } = await at.store.history(tenant, {}, { limit: 1 })
    expect(rows[0]?.input_hash).toBe(sha(text))
  })

  test('an event is found with its request and answer', async () => {
    const tenant = await newTenant(at.store)
    const given = event(tenant, { kind: 'block', by_hook: 'h', code: 'x.y', request: '{"a":"ä\\u0000"}' })
    await at.store.recordEvents([given], [], [])
    const { tenant: _, time, executions: __, ...rest } = given
    expect(await at.store.findEvent(tenant, given.event_id)).toEqual({
      ...rest,
      tenant_id: tenant,
      created_at: time,
    })
    expect(await at.store.findEvent(tenant, 'other')).toBeUndefined()
  })

  test('sessions are touched: first, last, how many events, newest first', async () => {
    const tenant = await newTenant(at.store)
    const at_ = (session_id: string, time: number, agent_id: string | null = null) =>
      event(tenant, { session_id, time, agent_id })
    await at.store.recordEvents([at_('a', NOON + 5), at_('b', NOON + 1), at_('a', NOON)], [], [])
    await at.store.recordEvents([at_('b', NOON + 9, 'agent'), at_('c', NOON + 3)], [], [])
    const first = await at.store.listSessions(tenant, {}, { limit: 2 })
    expect(first.rows).toMatchObject([
      {
        tenant_id: tenant,
        session_id: 'b',
        agent_id: 'agent',
        agent: null,
        first_at: NOON + 1,
        last_at: NOON + 9,
        events: 2,
      },
      {
        tenant_id: tenant,
        session_id: 'a',
        agent_id: null,
        agent: null,
        first_at: NOON,
        last_at: NOON + 5,
        events: 2,
      },
    ])
    const rest = await at.store.listSessions(tenant, {}, { limit: 2, cursor: first.nextCursor })
    expect(rest.rows.map((row) => row.session_id)).toEqual(['c'])
    expect(rest.nextCursor).toBe('')
  })

  test('sessions may be narrowed down, and have the name of their agent', async () => {
    const tenant = await newTenant(at.store)
    const of = (session_id: string, time: number, moment = {}) =>
      event(tenant, { session_id, time, moment: { agent: 'sdk', ...moment } })
    await at.store.recordEvents(
      [of('a', NOON), of('a', NOON + 4, { name: 'ada' }), of('probe-1', NOON + 5), of('b', NOON + 9)],
      [],
      [],
    )
    const list = async (filter: Parameters<typeof at.store.listSessions>[1]) =>
      (await at.store.listSessions(tenant, filter, { limit: 9 })).rows.map((row) => [
        row.session_id,
        row.agent,
      ])
    expect(await list({})).toEqual([
      ['b', 'sdk'],
      ['probe-1', 'sdk'],
      ['a', 'ada'],
    ])
    expect(await list({ except_sessions: 'probe-' })).toEqual([
      ['b', 'sdk'],
      ['a', 'ada'],
    ])
    expect(await list({ since: NOON + 5 })).toHaveLength(2)
    expect(await list({ until: NOON + 4 })).toEqual([['a', 'ada']])
  })

  test('the texts of events are read together, the smallest first, up to a limit', async () => {
    const tenant = await newTenant(at.store)
    const large = event(tenant, { request: JSON.stringify('x'.repeat(20_000)) })
    const small = event(tenant, { request: '"small"' })
    await at.store.recordEvents([large, small], [], [])
    const ids = [large.event_id, small.event_id, 'other']
    const read = async (maxLength: number) =>
      (await at.store.eventTexts(tenant, ids, maxLength)).map(({ request }) => request?.length).toSorted()
    expect(await read(100_000)).toEqual([20_002, 7].toSorted())
    expect(await read(10_000)).toEqual([7])
    expect(await read(0)).toEqual([])
    expect(await at.store.eventTexts(await newTenant(at.store), ids, 100_000)).toEqual([])
  })

  test('the events of a session come in their order, with where they stand, and only its own', async () => {
    const tenant = await newTenant(at.store)
    const stranger = await newTenant(at.store)
    const moment = { agent: 'claude-code', turn: 't1', lane: 'a', depth: 1, tool_call: 'c', tool: 'Bash' }
    const told = (event_id: string, time: number, more: object = {}) => ({
      ...event(tenant, { session_id: 's', time }),
      event_id,
      ...more,
    })
    await at.store.recordEvents([told('3', NOON + 2), told('1', NOON, { moment }), told('2', NOON)], [], [])
    await at.store.recordEvents([event(tenant, { session_id: 'other' })], [], [])
    await at.store.recordEvents([event(stranger, { session_id: 's' })], [], [])
    const first = await at.store.sessionEvents(tenant, 's', { limit: 2 })
    expect(first.rows.map((row) => [row.event_id, row.moment])).toEqual([
      ['1', moment],
      ['2', {}],
    ])
    const rest = await at.store.sessionEvents(tenant, 's', { limit: 2, cursor: first.nextCursor })
    expect(rest.rows).toMatchObject([{ event_id: '3', created_at: NOON + 2 }])
    expect(rest.nextCursor).toBe('')
  })

  test('the events of a session have the redacted summary that lists show', async () => {
    const tenant = await newTenant(at.store)
    const summary = {
      what: 'psql postgres://me:hunter2-hunter2@db/x',
      reason: 'no databases',
      rewritten: true,
    } as const
    await at.store.recordEvents(
      [
        { ...event(tenant, { session_id: 's', time: NOON }), summary },
        { ...event(tenant, { session_id: 's', time: NOON + 1 }), summary: {} },
      ],
      [],
      [],
    )
    const { rows } = await at.store.sessionEvents(tenant, 's', { limit: 9 })
    const listed = await at.store.listEvents(tenant, { session_id: 's' }, { limit: 9 })
    expect(rows).toMatchObject([
      { what: listed.rows[1]?.what, reason: 'no databases', rewritten: true },
      { what: null, reason: null, rewritten: false },
    ])
    expect(rows[0]?.what).toMatch(/^psql /)
    expect(rows[0]?.what).not.toContain('hunter2')
  })

  test('an answer is kept until it ends; the first one stays', async () => {
    const tenant = await newTenant(at.store)
    const first = kept(tenant, { key: 'k', answer: 'first' })
    await at.store.recordEvents([], [], [first], NOON)
    await at.store.recordEvents([event(tenant)], [], [kept(tenant, { key: 'k', answer: 'second' })], NOON)
    const { keep_ms: _, ...found } = { ...first, expires_at: NOON + 1_000 }
    expect(await at.store.findAnswer(tenant, 'k', NOON)).toEqual(found)
    expect(await at.store.findAnswer(tenant, 'k', NOON + 1_000)).toBeUndefined()
    expect(await at.store.findAnswer(tenant, 'other', NOON)).toBeUndefined()
  })

  test('an answer that has ended gives way to a new one', async () => {
    const tenant = await newTenant(at.store)
    await at.store.recordEvents([], [], [kept(tenant, { key: 'k', answer: 'first' })], NOON)
    const second = kept(tenant, { key: 'k', answer: 'second', keep_ms: 8_000 })
    await at.store.recordEvents([], [], [second], NOON + 1_000)
    expect(await at.store.findAnswer(tenant, 'k', NOON + 2_000)).toMatchObject({
      answer: 'second',
      expires_at: NOON + 9_000,
    })
  })

  test('4.11 #152 under another keyring what was sealed is undefined, and everything else is there', async () => {
    const database = await open()
    try {
      const tenant = await newTenant(database.store)
      const given = event(tenant, { hooks: [{ error_detail: 'secret' }] })
      await database.store.recordEvents([given], [], [kept(tenant, { key: 'k' })], NOON)
      await database.store.holdsSealed()
      const other = await database.reopen(otherKeyring)
      const found = await other.findEvent(tenant, given.event_id)
      expect(found).toMatchObject({ event: 'pre_tool_use', kind: 'allow' })
      expect(found?.request).toBeUndefined()
      expect(found?.answer).toBeUndefined()
      const { rows } = await other.history(tenant, {}, { limit: 1 })
      expect(rows).toHaveLength(1)
      expect(await other.errorDetail(tenant, rows[0]?.id ?? '')).toBeUndefined()
      expect(await other.findAnswer(tenant, 'k', NOON)).toBeUndefined()
    } finally {
      await database.dispose()
    }
  })

  test('nothing that may hold a secret lies in the database as it is', async () => {
    const tenant = await newTenant(at.store)
    const canary = `canary-${randomUUID()}`
    const request = JSON.stringify({ payload: { tool_input: canary } })
    await at.store.recordEvents(
      [event(tenant, { request, answer: canary, hooks: [{ error_detail: canary }] })],
      [delivery(tenant, randomUUID(), { payload: canary })],
      [kept(tenant, { key: 'k', answer: canary })],
    )
    const rows = [
      ...(await at.database.execute(`select request, answer from events where tenant_id = '${tenant}'`)),
      ...(await at.database.execute(
        `select error_detail from hook_executions where tenant_id = '${tenant}'`,
      )),
      ...(await at.database.execute(`select payload from deliveries where tenant_id = '${tenant}'`)),
      ...(await at.database.execute(`select answer from idempotency where tenant_id = '${tenant}'`)),
    ]
    expect(rows).toHaveLength(4)
    expect(JSON.stringify(rows)).not.toContain(canary)
    expect(rows.flatMap((row) => Object.values(row))).toEqual(
      Array.from({ length: 5 }, () => expect.stringMatching(/^aes-gcm:k1:/)),
    )
  })

  test('4.11 #155 the same text sealed often never has the same nonce', async () => {
    const tenant = await newTenant(at.store)
    const same = (n: number) => event(tenant, { event_id: `nonce ${n}`, request: 'r', answer: 'r' })
    await at.store.recordEvents(
      Array.from({ length: 500 }, (_, n) => same(n)),
      [],
      [],
    )
    const rows = await at.database.execute(`select request, answer from events where tenant_id = '${tenant}'`)
    const nonces = rows.flatMap((row) => Object.values(row)).map((sealed) => String(sealed).slice(11, 27))
    expect(nonces).toHaveLength(1_000)
    expect(new Set(nonces).size).toBe(1_000)
  })
})

function kept(tenant: string, fields: { key: string; answer?: string; keep_ms?: number }) {
  return { tenant, request_hash: 'h', answer: '{}', keep_ms: 1_000, ...fields }
}
