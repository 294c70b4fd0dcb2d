import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ACME,
  admin,
  guard,
  openTestMethods,
  otherAdmin,
  type TestMethods,
} from '../../../test/gateway/test-methods.fixture.ts'
import { agentId } from '../../access/agent-id.ts'
import type { EventRecord, ExecutionRecord } from '../audit-tables.ts'

let methods: TestMethods
let hookId: string
beforeAll(async () => {
  methods = await openTestMethods()
  hookId = (await methods.call('hooks.create', guard)).hookId
  await methods.store.recordEvents(
    Array.from({ length: 5 }, (_, index) => recorded(index)),
    [],
    [],
  )
})
afterAll(() => methods.close())

const viewer = { ...admin, role: 'viewer' } as const

function recorded(index: number, execution: Partial<ExecutionRecord> = {}): EventRecord {
  const id = `event-${index}`
  const trace = { event: 'pre_tool_use', id, hooks: [{ hook: hookId, matched: true }] }
  return {
    tenant: ACME,
    event_id: id,
    event: 'pre_tool_use',
    time: 1_000 + index,
    session_id: `session-${index % 2}`,
    agent_id: agentId(ACME, 'scribe'),
    kind: 'block',
    by_hook: hookId,
    code: null,
    duration_ms: 1.5,
    request: JSON.stringify({ event: 'pre_tool_use', payload: { tool_name: 'exec' } }),
    answer: JSON.stringify({ decision: { kind: 'block', reason: 'no' }, trace }),
    executions: [
      {
        hook_id: hookId,
        handler_type: 'http',
        decision: index === 4 ? 'error' : 'block',
        duration_ms: 1,
        retry: 0,
        dedup_key: `${hookId}:${id}`,
        code: index === 4 ? 'outbound.status' : null,
        error: index === 4 ? 'status 500' : null,
        error_detail: index === 4 ? 'status 500 and the whole story' : null,
        shadow: index === 3,
        metadata: { matcher_matched: true, http_status: 200 },
        ...execution,
      },
    ],
  }
}

const history = (params: object, caller = admin) => methods.call('hooks.history', params, caller)
const eventIds = async (params: object) => (await history(params)).executions.map((row) => row.event_id)

describe('hooks.history', () => {
  test('GC-118 the newest first, page by page, each row once', async () => {
    const seen: string[] = []
    let cursor = ''
    do {
      const page = await history({ limit: 2, ...(cursor === '' ? {} : { cursor }) }, viewer)
      seen.push(...page.executions.map((row) => row.event_id))
      cursor = page.nextCursor
    } while (cursor !== '')
    expect(seen).toEqual(['event-4', 'event-3', 'event-2', 'event-1', 'event-0'])
  })

  test('GC-118 filters by hook, event, decision, session, agent, shadow and time', async () => {
    expect(await eventIds({ hookId, decision: 'error' })).toEqual(['event-4'])
    expect(await eventIds({ event: 'PreToolUse', sessionId: 'session-1' })).toEqual(['event-3', 'event-1'])
    expect(await eventIds({ agentId: 'scribe', shadow: true })).toEqual(['event-3'])
    expect(await eventIds({ agentId: 'other' })).toEqual([])
    expect(await eventIds({ since: 1_002, until: 1_003 })).toEqual(expect.arrayContaining(['event-2']))
    expect(await eventIds({ eventId: 'event-0' })).toEqual(['event-0'])
    await expect(history({ limit: 201 })).rejects.toMatchObject({ code: 'config.range' })
  })

  test('GC-107 the history of a hook outlives it', async () => {
    const { hookId: gone } = await methods.call('hooks.create', guard)
    const execution = { hook_id: gone, dedup_key: `${gone}:event-9` }
    await methods.store.recordEvents([recorded(9, execution)], [], [])
    await methods.call('hooks.delete', { hookId: gone })
    const { executions } = await history({ eventId: 'event-9' })
    expect(executions).toMatchObject([{ hook_id: null, decision: 'block' }])
  })
})

describe('executions.get and executions.tail', () => {
  test('GC-96 an operator reads the whole text of an error', async () => {
    const [row] = (await history({ decision: 'error' })).executions
    const params = { eventId: 'event-4', executionId: row?.id }
    const { execution } = await methods.call('executions.get', params, { ...admin, role: 'operator' })
    expect(execution).toMatchObject({ error: 'status 500', error_detail: 'status 500 and the whole story' })
    await expect(methods.call('executions.get', params, viewer)).rejects.toMatchObject({ code: 'auth.scope' })
    await expect(methods.call('executions.get', { ...params, executionId: 'x' })).rejects.toMatchObject({
      code: 'gateway.not_found',
    })
  })

  test('a tail begins now and goes on from its cursor', async () => {
    const now = await methods.call('executions.tail', {}, viewer)
    expect(now.executions).toEqual([])
    await methods.store.recordEvents([recorded(20), recorded(21)], [], [])
    const page = await methods.call('executions.tail', { cursor: now.nextCursor, limit: 10 }, viewer)
    expect(page.executions.map((row) => row.event_id)).toEqual(['event-20', 'event-21'])
    const rest = await methods.call('executions.tail', { cursor: page.nextCursor }, viewer)
    expect(rest.executions).toEqual([])
  })
})

describe('events and sessions', () => {
  test('the full trace of a recorded event', async () => {
    expect(await methods.call('events.explain', { eventId: 'event-1' })).toMatchObject({
      event: { event_id: 'event-1', kind: 'block', by_hook: hookId },
      request: { event: 'pre_tool_use', payload: { tool_name: 'exec' } },
      decision: { kind: 'block', reason: 'no' },
      trace: { id: 'event-1', hooks: [{ hook: hookId, matched: true }] },
    })
    const got = await methods.call('events.get', { eventId: 'event-1' })
    expect(got).toMatchObject({ decision: { kind: 'block' } })
    expect(got).not.toHaveProperty('trace')
    await expect(methods.call('events.explain', { eventId: 'x' })).rejects.toMatchObject({
      code: 'gateway.not_found',
    })
    await expect(methods.call('events.get', { eventId: 'event-1' }, viewer)).rejects.toMatchObject({
      code: 'auth.scope',
    })
  })

  test('sessions are listed with what they sent', async () => {
    const { sessions } = await methods.call('sessions.list', {}, viewer)
    expect(sessions.map((session) => session.session_id).toSorted()).toEqual(['session-0', 'session-1'])
  })

  test('4.10 #142 nothing of this is another tenant’s', async () => {
    const [row] = (await history({ decision: 'error' })).executions
    expect((await history({ hookId }, otherAdmin)).executions).toEqual([])
    expect((await methods.call('sessions.list', {}, otherAdmin)).sessions).toEqual([])
    for (const [method, params] of [
      ['executions.get', { eventId: 'event-4', executionId: row?.id }],
      ['events.get', { eventId: 'event-4' }],
      ['events.explain', { eventId: 'event-4' }],
    ] as const)
      await expect(methods.call(method, params, otherAdmin)).rejects.toMatchObject({
        code: 'gateway.not_found',
      })
  })
})
