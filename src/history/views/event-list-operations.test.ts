import { describe, expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import { event, execution, NOON, newTenant } from '../../../test/store/samples.fixture.ts'
import type { EventRecord } from '../audit-tables.ts'
import type { EventFilter, RecordedSummary } from '../view-tables.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Everything older than the given time goes. */
const KEEP_NOTHING = { keep_executions_ms: 0, keep_deliveries_ms: 0 }
const viewTables = [
  'event_summaries',
  'decision_minutes',
  'decision_hours',
  'event_hours',
  'hook_hours',
  'session_lanes',
] as const

type Given = Parameters<typeof event>[1] & { readonly summary?: RecordedSummary }

onEachStore('views', (open) => {
  describe('lists and statistics', () => {
    const at = shareStore(open)
    const record = (...events: readonly EventRecord[]) => at.store.recordEvents(events, [], [])

    /** Records one event per minute from noon, named 0, 1, 2, … */
    async function recorded(...given: readonly Given[]): Promise<string> {
      const tenant = await newTenant(at.store)
      await record(
        ...given.map((fields, index) =>
          event(tenant, { event_id: String(index), time: NOON + index * MINUTE, ...fields }),
        ),
      )
      return tenant
    }
    const ids = async (tenant: string, filter: EventFilter) =>
      (await at.store.listEvents(tenant, filter, { limit: 50 })).rows.map((row) => row.event_id)

    test('an event is listed with its summary, in which every text is redacted, one line and clipped', async () => {
      const token = `ghp_${'a1B2'.repeat(9)}`
      const tenant = await recorded({
        kind: 'block',
        code: 'x.y',
        session_id: 's',
        agent_id: 'a',
        summary: {
          agent: 'claude-code',
          folder: `/home/ada/${token}`,
          lane: 'l',
          tool: 'Bash',
          what: `curl -H 'Authorization: Bearer ${token}'\n  https://example.com/${'x'.repeat(500)}`,
          opened: `on_error: allow of ${token}`,
          failed: 2,
          shadow: 1,
          by_hook: 'h',
          hook_name: 'no-curl',
          reason: `no\n${token}`,
        },
      })
      const { rows, nextCursor } = await at.store.listEvents(tenant, {}, { limit: 5 })
      expect(rows).toEqual([
        {
          event_id: '0',
          event: 'pre_tool_use',
          session_id: 's',
          agent_id: 'a',
          agent: 'claude-code',
          folder: '/home/ada/[REDACTED]',
          lane: 'l',
          tool: 'Bash',
          what: expect.stringMatching(/^curl -H 'Authorization: \[REDACTED\].* https:\/\/example\.com\/x+$/),
          kind: 'block',
          rewritten: false,
          opened: 'on_error: allow of [REDACTED]',
          failed: 2,
          shadow: 1,
          by_hook: 'h',
          hook_name: 'no-curl',
          reason: 'no [REDACTED]',
          code: 'x.y',
          duration_ms: 2.5,
          created_at: NOON,
          probe: false,
        },
      ])
      expect(rows[0]?.what).toHaveLength(256)
      expect(nextCursor).toBe('')
      const stored = await at.database.execute(`select * from event_summaries where tenant_id = '${tenant}'`)
      expect(JSON.stringify(stored)).not.toContain(token)
    })

    test('a record of an older version is listed with what it holds', async () => {
      const moment = { agent: 'codex', lane: 'l', tool: 'Bash' }
      const tenant = await recorded({ moment, by_hook: 'h', kind: 'block', session_id: 's' })
      expect((await at.store.listEvents(tenant, {}, { limit: 5 })).rows).toMatchObject([
        { agent: 'codex', lane: 'l', tool: 'Bash', by_hook: 'h', what: null },
      ])
    })

    test('the newest come first, page by page, each once', async () => {
      const tenant = await recorded({}, {}, { time: NOON }, { time: NOON }, {})
      const seen: string[] = []
      let cursor = ''
      do {
        const page = { limit: 2, ...(cursor === '' ? {} : { cursor }) }
        const { rows, nextCursor } = await at.store.listEvents(tenant, {}, page)
        seen.push(...rows.map((row) => row.event_id))
        cursor = nextCursor
      } while (cursor !== '')
      expect(seen).toEqual(['4', '1', '3', '2', '0'])
      await expect(at.store.listEvents(tenant, {}, { limit: 1, cursor: 'x' })).rejects.toMatchObject({
        code: 'gateway.request',
      })
    })

    test('every filter selects alone and with others', async () => {
      const tenant = await recorded(
        { event: 'stop', session_id: 's', agent_id: 'a', duration_ms: 9 },
        { kind: 'block', session_id: 's', summary: { by_hook: 'h', tool: 'Bash', what: 'git push' } },
        { kind: 'ask', summary: { by_hook: 'h', tool: 'Edit', what: '100%_x' } },
        { summary: { rewritten: true, by_hook: 'r', tool: 'Bash', what: 'ls' } },
        { summary: { opened: 'on_error', failed: 1, tool: 'Bash' } },
        { summary: { probe: true, tool: 'Bash' } },
      )
      for (const [filter, found] of [
        [{}, '43210'],
        [{ probes: true }, '543210'],
        [{ event: 'stop' }, '0'],
        [{ session_id: 's' }, '10'],
        [{ agent_id: 'a' }, '0'],
        [{ kind: 'block' }, '1'],
        [{ kind: 'ask' }, '2'],
        [{ kind: 'allow' }, '430'],
        [{ by_hook: 'h' }, '21'],
        [{ tool: 'Bash' }, '431'],
        [{ text: 'PUSH' }, '1'],
        [{ text: '%_' }, '2'],
        [{ min_ms: 9 }, '0'],
        [{ rewritten: true }, '3'],
        [{ rewritten: false }, '4210'],
        [{ opened: true }, '4'],
        [{ opened: false }, '3210'],
        [{ failed: true }, '4'],
        [{ failed: false }, '3210'],
        [{ since: NOON + MINUTE, until: NOON + 2 * MINUTE }, '21'],
        [{ session_id: 's', kind: 'block' }, '1'],
        [{ by_hook: 'h', kind: 'ask', tool: 'Edit', text: '100' }, '2'],
        [{ by_hook: 'h', kind: 'ask', tool: 'Bash' }, ''],
        [{ tool: 'Bash', rewritten: true, opened: true }, ''],
      ] as const)
        expect((await ids(tenant, filter)).join(''), JSON.stringify(filter)).toBe(found)
    })

    test('a call examines a limited number of events, and its cursor leads to the rest', async () => {
      const tenant = await newTenant(at.store)
      const few = { summary: { what: 'needle' } }
      const many = Array.from({ length: 10_400 }, (_, index) =>
        event(tenant, { event_id: `${index}`, time: NOON + index, ...(index === 7 ? few : {}) }),
      )
      for (let from = 0; from < many.length; from += 400) await record(...many.slice(from, from + 400))
      // Waits until all of them are in rows.
      await at.store.holdsSealed()
      const first = await at.store.listEvents(tenant, { text: 'needle' }, { limit: 5 })
      expect(first).toEqual({ rows: [], nextCursor: expect.stringMatching(/./) })
      const rest = await at.store.listEvents(
        tenant,
        { text: 'needle' },
        { limit: 5, cursor: first.nextCursor },
      )
      expect(rest).toMatchObject({ rows: [{ event_id: '7' }], nextCursor: '' })
      const facets = await at.store.countFacets(tenant, { text: 'needle' })
      expect(facets).toMatchObject({ total: 0, complete: false })
    })

    test('a tail begins now, shows each event once in the order of recording, and no probe unless asked', async () => {
      const tenant = await recorded({}, {})
      const options = { limit: 2, probes: false }
      const start = await at.store.tailEvents(tenant, undefined, options)
      expect(start.rows).toEqual([])
      await record(event(tenant, { event_id: 'b', time: NOON }))
      await record(event(tenant, { event_id: 'a', summary: { probe: true } }))
      await record(event(tenant, { event_id: 'c' }), event(tenant, { event_id: 'd' }))
      const first = await at.store.tailEvents(tenant, start.nextCursor, options)
      expect(first.rows.map((row) => row.event_id)).toEqual(['b', 'c'])
      const rest = await at.store.tailEvents(tenant, first.nextCursor, options)
      expect(rest.rows.map((row) => row.event_id)).toEqual(['d'])
      const none = await at.store.tailEvents(tenant, rest.nextCursor, options)
      expect(none.rows).toEqual([])
      const all = await at.store.tailEvents(tenant, start.nextCursor, { limit: 9, probes: true })
      expect(all.rows.map((row) => row.event_id)).toEqual(['b', 'a', 'c', 'd'])
      await expect(at.store.tailEvents(tenant, 'x', options)).rejects.toMatchObject({
        code: 'gateway.request',
      })
    })

    test('decisions are counted per step, with latencies, empty steps included', async () => {
      const tenant = await recorded(
        { duration_ms: 0.05 },
        { duration_ms: 30, summary: { rewritten: true } },
        { duration_ms: 40, kind: 'block' },
        { time: NOON + 7 * MINUTE, kind: 'ask', duration_ms: 400, summary: { opened: 'x', failed: 1 } },
        { time: NOON + 7 * MINUTE, summary: { probe: true } },
      )
      const step = 5 * MINUTE
      const none = {
        allow: 0,
        rewrite: 0,
        ask: 0,
        block: 0,
        opened: 0,
        failed: 0,
        p50_ms: null,
        p95_ms: null,
      }
      const buckets = await at.store.countDecisions(tenant, {
        since: NOON + 1,
        until: NOON + 3 * step,
        step,
      })
      expect(buckets).toEqual([
        {
          ...none,
          at: NOON,
          allow: 1,
          rewrite: 1,
          block: 1,
          p50_ms: expect.any(Number),
          p95_ms: expect.any(Number),
        },
        { ...none, at: NOON + step, ask: 1, opened: 1, failed: 1, p50_ms: 350, p95_ms: 485 },
        { ...none, at: NOON + 2 * step },
      ])
      const hour = await at.store.countDecisions(tenant, { since: NOON, until: NOON + HOUR, step: HOUR })
      expect(hour).toMatchObject([{ at: NOON, allow: 1, rewrite: 1, ask: 1, block: 1, opened: 1 }])
      expect(buckets[0]?.p50_ms).toBeGreaterThan(20)
      expect(buckets[0]?.p95_ms).toBeLessThanOrEqual(50)
    })

    test('what each hook did is counted, a second run for the same event not as another match', async () => {
      const tenant = await newTenant(at.store)
      const ran = (hook_id: string, event_id: string, fields: Parameters<typeof execution>[1]) =>
        execution(event_id, { hook_id, ...fields })
      const of = (event_id: string, time: number, ...executions: ReturnType<typeof execution>[]) => ({
        ...event(tenant, { event_id, time }),
        executions,
      })
      await record(
        of(
          'e1',
          NOON,
          ran('guard', 'e1', { decision: 'block', duration_ms: 3, tally: { hook_name: 'Guard' } }),
          ran('editor', 'e1', { tally: { rewrote: true } }),
          ran('editor', 'e1', { dedup_key: 'again', tally: { repeated: true } }),
        ),
        of('e2', NOON + HOUR, ran('guard', 'e2', { decision: 'timeout', duration_ms: 100 })),
        of('e3', NOON + HOUR, ran('guard', 'e3', { decision: 'late' })),
      )
      const none = { block: 0, ask: 0, rewrite: 0, failed: 0, hook_name: null, p95_ms: expect.any(Number) }
      expect(await at.store.countHooks(tenant, NOON + 1)).toEqual([
        { ...none, hook_id: 'editor', matched: 1, rewrite: 1, last_at: NOON },
        {
          ...none,
          hook_id: 'guard',
          hook_name: 'Guard',
          matched: 2,
          block: 1,
          failed: 1,
          last_at: NOON + HOUR,
        },
      ])
      expect(await at.store.countHooks(tenant, NOON + HOUR)).toMatchObject([{ hook_id: 'guard', matched: 1 }])
    })

    test('facets count whole hours and parts of hours, and each ignores its own filter', async () => {
      const bash = { tool: 'Bash', agent: 'claude-code' }
      const tenant = await recorded(
        { time: NOON - 1, summary: bash },
        { time: NOON, agent_id: 'a', summary: bash },
        { time: NOON + HOUR - 1, kind: 'block', summary: { tool: 'Edit', by_hook: 'h', hook_name: 'Guard' } },
        { time: NOON + HOUR + 5, event: 'stop' },
        { time: NOON + HOUR + 6, summary: { tool: 'Read' } },
        { time: NOON, summary: { probe: true } },
      )
      const span = { since: NOON - 1, until: NOON + HOUR + 5 }
      const counted = async (filter: EventFilter) => {
        const { event: _, total, complete, ...facets } = await at.store.countFacets(tenant, filter)
        const pairs = Object.entries(facets).map(([name, counts]) => [
          name,
          Object.fromEntries(counts.map(({ value, count }) => [String(value), count])),
        ])
        return { ...Object.fromEntries(pairs), total, complete }
      }
      expect(await counted(span)).toEqual({
        agent: { null: 3, a: 1 },
        tool: { Bash: 2, Edit: 1, null: 1 },
        kind: { allow: 3, block: 1 },
        hook: { null: 3, h: 1 },
        total: 4,
        complete: true,
      })
      expect(await counted({ ...span, tool: 'Bash' })).toMatchObject({
        tool: { Bash: 2, Edit: 1, null: 1 },
        kind: { allow: 2 },
        total: 2,
      })
      expect(await counted({})).toMatchObject({ total: 5 })
      expect(await counted({ since: NOON + HOUR + 6, until: NOON + HOUR + 7 })).toMatchObject({ total: 1 })
      expect(await counted({ probes: true })).toMatchObject({ total: 6 })
      const { hook, agent } = await at.store.countFacets(tenant, span)
      expect(hook).toContainEqual({ value: 'h', name: 'Guard', count: 1 })
      expect(agent).toContainEqual({ value: 'a', name: 'claude-code', count: 1 })
    })

    test('the latest requests of one event are opened, but not one that is too large', async () => {
      const request = (text: string) => JSON.stringify({ payload: { text } })
      const tenant = await recorded(
        { request: request('one') },
        { request: request('x'.repeat(300_000)) },
        { event: 'stop', request: request('other') },
        { request: request('three'), summary: { probe: true } },
        { request: request('four') },
      )
      const first = await at.store.recentRequests(tenant, 'pre_tool_use', { limit: 2 })
      expect(first.rows.map((row) => [row.event_id, row.request])).toEqual([
        ['4', request('four')],
        ['1', undefined],
      ])
      const cursor = first.nextCursor
      const rest = await at.store.recentRequests(tenant, 'pre_tool_use', { limit: 2, cursor })
      expect(rest).toMatchObject({ rows: [{ event_id: '0', request: request('one') }], nextCursor: '' })
    })

    test('a session sums up what happened in it', async () => {
      const tenant = await recorded(
        {
          session_id: 's',
          event: 'session_start',
          duration_ms: 1,
          summary: { folder: '/a/shop', agent: 'codex' },
        },
        { session_id: 's', event: 'user_prompt_submit', summary: { prompt: `fix\nthe ${'x'.repeat(200)}` } },
        { session_id: 's', event: 'user_prompt_submit', summary: { prompt: 'second' } },
        {
          session_id: 's',
          kind: 'block',
          agent_id: 'a',
          summary: { folder: '/a/shop/src', agent: 'claude-code' },
        },
        { session_id: 's', kind: 'ask', summary: { lane: 'l1' } },
        { session_id: 's', summary: { lane: 'l2', rewritten: true } },
        { session_id: 's', summary: { lane: 'l1' } },
        { session_id: 'other', summary: { lane: 'l1' } },
      )
      const expected = {
        tenant_id: tenant,
        session_id: 's',
        agent_id: 'a',
        agent: 'claude-code',
        folder: '/a/shop',
        title: `fix the ${'x'.repeat(112)}`,
        first_at: NOON,
        last_at: NOON + 6 * MINUTE,
        events: 7,
        tool_calls: 4,
        blocked: 1,
        rewritten: 1,
        asked: 1,
        hook_ms: 16,
        sub_agents: 2,
        ended: false,
      }
      expect(await at.store.findSession(tenant, 's')).toEqual(expected)
      const end = { session_id: 's', event: 'session_end', time: NOON + 8 * MINUTE, event_id: 'end' }
      await record(event(tenant, end))
      expect(await at.store.findSession(tenant, 's')).toMatchObject({ ended: true, events: 8, blocked: 1 })
      await record(event(tenant, { session_id: 's', time: NOON + 9 * MINUTE }))
      const { rows } = await at.store.listSessions(tenant, {}, { limit: 1 })
      expect(rows).toMatchObject([{ session_id: 's', ended: false, title: expected.title, sub_agents: 2 }])
      expect(await at.store.findSession(tenant, 'none')).toBeUndefined()
    })

    test('recording a group twice changes no list and no count', async () => {
      const tenant = await newTenant(at.store)
      const group = [
        event(tenant, { session_id: 's', kind: 'block', hooks: [{ hook_id: 'h', decision: 'error' }] }),
        event(tenant, { session_id: 's', summary: { lane: 'l' } }),
      ]
      const everything = async () => ({
        events: await at.store.listEvents(tenant, {}, { limit: 9 }),
        buckets: await at.store.countDecisions(tenant, { since: NOON, until: NOON + MINUTE, step: MINUTE }),
        hooks: await at.store.countHooks(tenant, NOON),
        facets: await at.store.countFacets(tenant, {}),
        session: await at.store.findSession(tenant, 's'),
      })
      await record(...group, ...group)
      const before = await everything()
      expect(before).toMatchObject({
        buckets: [{ block: 1, allow: 1 }],
        hooks: [{ failed: 1 }],
        facets: { total: 2 },
        session: { events: 2 },
      })
      await record(...group)
      expect(await everything()).toEqual(before)
    })

    test('a hook that fails after its event was recorded is counted in the summary', async () => {
      const tenant = await newTenant(at.store)
      const given = event(tenant, { event_id: 'e', hooks: [{}] })
      await record(given)
      const late = [
        execution('e', { decision: 'error' }),
        execution('e', { decision: 'timeout', shadow: true }),
        execution('e', {}),
      ]
      await record({ ...given, executions: late })
      await record({ ...given, executions: late })
      expect((await at.store.listEvents(tenant, { failed: true }, { limit: 9 })).rows).toMatchObject([
        { event_id: 'e', failed: 1 },
      ])
    })

    test('4.10 #142 nothing of this is of another tenant, and deleting a tenant takes all of it', async () => {
      const fields = { session_id: 's', hooks: [{}], summary: { lane: 'l' } }
      const [gone, kept] = [await recorded(fields), await recorded(fields)]
      const stranger = await newTenant(at.store)
      const start = await at.store.tailEvents(stranger, undefined, { limit: 9, probes: true })
      await record(event(gone, { session_id: 's' }))
      expect(
        (await at.store.tailEvents(stranger, start.nextCursor, { limit: 9, probes: true })).rows,
      ).toEqual([])
      expect(await ids(stranger, { session_id: 's' })).toEqual([])
      expect(await at.store.findSession(stranger, 's')).toBeUndefined()
      expect(await at.store.countHooks(stranger, 0)).toEqual([])
      expect(await at.store.countFacets(stranger, {})).toMatchObject({ total: 0 })
      expect((await at.store.recentRequests(stranger, 'pre_tool_use', { limit: 9 })).rows).toEqual([])
      const span = { since: NOON, until: NOON + MINUTE, step: MINUTE }
      expect(await at.store.countDecisions(stranger, span)).toMatchObject([{ allow: 0 }])
      await at.store.deleteTenant(gone)
      for (const table of viewTables) {
        const rows = await at.database.execute(`select tenant_id from ${table}`)
        const owners = rows.map((row) => row.tenant_id)
        expect(owners, table).not.toContain(gone)
        expect(owners, table).toContain(kept)
      }
    })
  })

  describe('lists and statistics over time', () => {
    test('retention removes summaries with their events, and counts of whole spans', async () => {
      const database = await open()
      try {
        const { store, execute } = database
        const tenant = await newTenant(store)
        const fields = { session_id: 's', hooks: [{}], summary: { lane: 'l' } }
        await store.recordEvents(
          [
            event(tenant, { event_id: 'old', time: NOON, ...fields }),
            event(tenant, { event_id: 'new', time: NOON + 2 * HOUR, ...fields, session_id: 't' }),
          ],
          [],
          [],
        )
        await store.prune(KEEP_NOTHING, NOON + 1)
        expect((await store.listEvents(tenant, {}, { limit: 9 })).rows).toMatchObject([{ event_id: 'new' }])
        expect(await store.countFacets(tenant, {})).toMatchObject({ total: 2 })
        await store.prune(KEEP_NOTHING, NOON + 2 * HOUR)
        expect(await store.countFacets(tenant, {})).toMatchObject({ total: 1 })
        for (const table of viewTables) expect(await execute(`select 1 as n from ${table}`)).toHaveLength(1)
      } finally {
        await database.dispose()
      }
    })
  })
})
