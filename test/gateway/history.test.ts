import { beforeAll, expect, test } from 'vitest'
import { shared } from './running.fixture.ts'

const gateway = shared(() => ({
  functions: {
    pass: () => undefined,
    mood: (payload: { tool_name: string }) => {
      if (payload.tool_name === 'throw') throw new Error('no idea')
      return payload.tool_name === 'block' ? { kind: 'block', reason: 'told so' } : undefined
    },
  },
}))

const ids: Record<'mood' | 'quiet', string> = { mood: '', quiet: '' }
const times: number[] = []
const eventIds: string[] = []
const EVENTS = 12

beforeAll(async () => {
  const hook = { event: 'pre_tool_use', handler_type: 'function' }
  ids.mood = await gateway().hook({ ...hook, config: { name: 'mood' } })
  ids.quiet = await gateway().hook({ ...hook, config: { name: 'pass' }, shadow: true })
  await gateway().hook({ ...hook, event: 'subagent_start', config: { name: 'pass' } })
  const tools = ['allow', 'block', 'throw']
  for (let index = 0; index < EVENTS; index++) {
    const payload = { tool_name: tools[index % 3], tool_input: { index } }
    const envelope = {
      id: `event-${index}`,
      session: `session-${index % 2}`,
      agent: index < 6 ? 'ada' : 'bob',
    }
    const { body } = await gateway().dispatch('pre_tool_use', payload, { envelope })
    eventIds.push(body.event_id)
    times.push(Date.now())
    // The clock counts in ms, and filters by time are tested below.
    await gateway().until(
      async () => Date.now(),
      (now) => now > (times.at(-1) ?? 0),
    )
  }
  await gateway().dispatch('subagent_start', {})
  await gateway().until(
    () => gateway().call('GET', '/v1/executions?limit=200'),
    ({ body }) => body.executions.length === 2 * EVENTS + 1,
  )
})

interface Row {
  readonly id: string
  readonly event_id: string
  readonly created_at: number
}

async function pages(query: string): Promise<Row[]> {
  const rows: Row[] = []
  let cursor = ''
  do {
    const { status, body } = await gateway().call('GET', `/v1/executions?${query}&limit=5&cursor=${cursor}`)
    expect(status).toBe(200)
    expect(body.executions.length).toBeLessThanOrEqual(5)
    rows.push(...body.executions)
    cursor = body.nextCursor
  } while (cursor !== '')
  return rows
}

test('GC-118 every row comes once, the newest first, in pages', async () => {
  const rows = await pages('')
  expect(new Set(rows.map(({ id }) => id)).size).toBe(2 * EVENTS + 1)
  const created = rows.map(({ created_at }) => created_at)
  expect(created).toEqual(created.toSorted((a, b) => b - a))
})

test('GC-118 rows that are written between two pages move nothing', async () => {
  const first = await gateway().call('GET', `/v1/executions?hookId=${ids.mood}&limit=4`)
  await gateway().dispatch('subagent_start', {})
  const rest = await gateway().call(
    'GET',
    `/v1/executions?hookId=${ids.mood}&limit=200&cursor=${first.body.nextCursor}`,
  )
  const seen = [...first.body.executions, ...rest.body.executions].map(({ event_id }: Row) => event_id)
  expect(seen).toEqual(eventIds.toReversed())
})

test.each([
  ['hookId', () => `hookId=${ids.mood}`, EVENTS],
  ['event by an alias', () => 'event=SubagentStart&until=9999999999999', undefined],
  ['eventId', () => `eventId=${eventIds[3]}`, 2],
  ['decision', () => 'decision=block', EVENTS / 3],
  ['another decision', () => 'decision=error', EVENTS / 3],
  ['sessionId', () => 'sessionId=session-1', EVENTS],
  ['agentId by name', () => 'agentId=ada', EVENTS],
  ['shadow', () => 'shadow=true', EVENTS],
  ['no shadow, with a hook', () => `shadow=false&hookId=${ids.quiet}`, 0],
  ['since', () => `since=${(times[9] ?? 0) + 1}&event=pre_tool_use`, 4],
  ['until', () => `until=${times[2]}`, 6],
  ['several at once', () => `decision=block&sessionId=session-0&agentId=bob&hookId=${ids.mood}`, 1],
])('GC-118 the history is filtered by %s', async (_, query, count) => {
  const rows = await pages(query())
  if (count === undefined) expect(rows.length).toBeGreaterThan(0)
  else expect(rows).toHaveLength(count)
})

test('GC-118 a cursor or a filter that nobody made is refused', async () => {
  for (const query of ['cursor=!!!', 'decision=maybe', 'limit=0', 'limit=201', 'nothing=1'])
    expect(await gateway().call('GET', `/v1/executions?${query}`)).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_REQUEST' } },
    })
})

test('any recorded event can be explained, block and error alike', async () => {
  const explain = async (id = '') => (await gateway().call('GET', `/v1/events/${id}/explain`)).body
  const blocked = await explain(eventIds[1])
  expect(blocked).toMatchObject({
    event: { event_id: eventIds[1], kind: 'block', by_hook: ids.mood, session_id: 'session-1' },
    request: { payload: { tool_name: 'block' } },
    decision: { kind: 'block', reason: 'told so', by: ids.mood },
    trace: { merges: [{ hook: ids.mood, from: 'allow', to: 'block' }] },
  })
  const shadow = blocked.trace.hooks.find(({ hook }: { hook: string }) => hook === ids.quiet)
  expect(shadow.executions).toMatchObject([{ shadow: true, decision: 'allow' }])
  expect(await explain(eventIds[2])).toMatchObject({ event: { kind: 'block', code: 'handler.error' } })
  const unknown = await gateway().call('GET', '/v1/events/event-99/explain')
  expect(unknown).toMatchObject({ status: 404, body: { error: { details: { code: 'gateway.not_found' } } } })
})

test('sessions tell how many events each sent', async () => {
  const { body } = await gateway().call('GET', '/v1/sessions')
  expect(body.sessions).toMatchObject([
    { session_id: 'session-1', events: EVENTS / 2 },
    { session_id: 'session-0', events: EVENTS / 2 },
  ])
})
