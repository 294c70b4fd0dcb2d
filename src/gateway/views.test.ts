import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ACME,
  admin,
  GLOBEX,
  master,
  openTestMethods,
  otherAdmin,
  type TestMethods,
} from '../../test/gateway/test-methods.fixture.ts'
import { agentId } from '../access/agent-id.ts'
import type { Caller } from '../access/caller.ts'
import type { EventRecord } from '../history/audit-tables.ts'

const MINUTE = 60_000
const START = 1_800_000_000_000 - (1_800_000_000_000 % (60 * MINUTE))
const viewer = { ...admin, role: 'viewer' } as const
const operator = { ...admin, role: 'operator' } as const

let methods: TestMethods
beforeAll(async () => {
  methods = await openTestMethods()
  await methods.store.recordEvents(
    [
      recorded(0, { command: 'ls -la' }),
      recorded(1, { command: 'git push --force' }, { kind: 'block' }),
      recorded(2, { command: 'git status' }, { session_id: 'hookhelm-doctor-1' }),
      recorded(3, { file_path: '/home/me/shop/a.ts' }, { tool: 'Edit' }),
    ],
    [],
    [],
  )
})
afterAll(() => methods.close())

function recorded(
  index: number,
  tool_input: Readonly<Record<string, string>>,
  { kind = 'allow', session_id = 's1', tool = 'Bash' }: Partial<EventRecord> & { tool?: string } = {},
): EventRecord {
  const payload = { tool_name: tool, tool_input }
  return {
    tenant: ACME,
    event_id: `e${index}`,
    event: 'pre_tool_use',
    time: START + index * MINUTE,
    session_id,
    agent_id: agentId(ACME, 'claude-code'),
    kind,
    by_hook: null,
    code: null,
    duration_ms: 4,
    request: JSON.stringify({ event: 'pre_tool_use', payload, envelope: { agent: 'claude-code' } }),
    answer: '{}',
    executions: [],
    summary: {
      agent: 'claude-code',
      folder: '/home/me/shop',
      tool,
      what: Object.values(tool_input)[0] ?? '',
      ...(session_id === 's1' ? {} : { probe: true }),
      ...(kind === 'block' ? { by_hook: 'guard', hook_name: 'no-force' } : {}),
    },
  }
}

test('a viewer reads in a timeline what events.list shows, and an operator no less', async () => {
  const timeline = async (caller: Caller) =>
    (await methods.call('sessions.timeline', { sessionId: 's1' }, caller)).events
  const listed = (await methods.call('events.list', { session: 's1' }, viewer)).events.toReversed()
  const seen = await timeline(viewer)
  expect(seen.map(({ event_id, argument }) => [event_id, argument])).toEqual(
    listed.map(({ event_id, what }) => [event_id, what]),
  )
  expect(seen[1]).toMatchObject({ argument: 'git push --force', kind: 'block', rewritten: false })
  expect(seen.every((event) => !('changes' in event))).toBe(true)
  expect((await timeline(operator)).map(({ argument }) => argument)).toEqual(
    seen.map(({ argument }) => argument),
  )
})

describe('events.list and events.tail', () => {
  const list = async (params: object, caller = viewer) =>
    (await methods.call('events.list', params, caller)).events.map((row) => row.event_id)

  test('a viewer sees what happened, without probes unless asked for', async () => {
    const { events } = await methods.call('events.list', {}, viewer)
    expect(events.map((row) => row.event_id)).toEqual(['e3', 'e1', 'e0'])
    expect(events[1]).toMatchObject({
      agent: 'claude-code',
      project: 'shop',
      folder: '/home/me/shop',
      tool: 'Bash',
      what: 'git push --force',
      kind: 'block',
      by_hook: 'guard',
      hook_name: 'no-force',
    })
    expect(await list({ probes: true })).toContain('e2')
  })

  test('events are found by any name of their event, and by id or name of their agent', async () => {
    expect(await list({ event: 'PreToolUse', agent: 'claude-code', tool: 'Edit' })).toEqual(['e3'])
    expect(await list({ agent: agentId(ACME, 'claude-code'), kind: 'block' })).toEqual(['e1'])
    expect(await list({ agent: 'other' })).toEqual([])
    expect(await list({ hook: 'guard', text: 'push', minMs: 4, session: 's1' })).toEqual(['e1'])
    await expect(list({ event: 'no_such_event' })).rejects.toMatchObject({ code: 'input.unknown_event' })
  })

  test('a tail goes on from its cursor', async () => {
    const { events, nextCursor } = await methods.call('events.tail', {}, viewer)
    expect(events).toEqual([])
    await methods.store.recordEvents([{ ...recorded(9, { command: 'pwd' }), event_id: 'tailed' }], [], [])
    const page = await methods.call('events.tail', { cursor: nextCursor }, viewer)
    expect(page.events).toMatchObject([{ event_id: 'tailed', project: 'shop' }])
  })

  test('4.10 #142 nothing of this is another tenant’s', async () => {
    expect(await list({}, { ...viewer, tenant: GLOBEX })).toEqual([])
    expect((await methods.call('stats.facets', {}, otherAdmin)).total).toBe(0)
    const preview = { hook: { event: 'pre_tool_use' } }
    expect(await methods.call('hooks.preview', preview, otherAdmin)).toMatchObject({ checked: 0 })
    await expect(methods.call('sessions.get', { sessionId: 's1' }, otherAdmin)).rejects.toMatchObject({
      code: 'gateway.not_found',
    })
  })
})

describe('stats', () => {
  const decisions = (params: object) => methods.call('stats.decisions', params, viewer)

  test('decisions are counted per step', async () => {
    const { buckets } = await decisions({ since: START, until: START + 4 * MINUTE, step: 2 * MINUTE })
    expect(buckets).toMatchObject([
      { at: START, allow: 1, block: 1, p50_ms: expect.any(Number) },
      { at: START + 2 * MINUTE, allow: 1, block: 0 },
    ])
  })

  test('a step below a minute, too many steps and a span that ends before it begins are refused', async () => {
    await expect(decisions({ step: 1_000 })).rejects.toMatchObject({ at: 'step' })
    await expect(decisions({ since: 0, until: START })).rejects.toMatchObject({ at: 'step' })
    await expect(decisions({ since: START, until: START - 1 })).rejects.toMatchObject({ at: 'since' })
    expect((await decisions({})).buckets).toHaveLength(61)
  })

  test('facets count values with the names that people know', async () => {
    const { hook, agent, kind } = await methods.call('stats.facets', { until: START + 4 * MINUTE }, viewer)
    expect(hook).toContainEqual({ value: 'guard', name: 'no-force', count: 1 })
    expect(agent).toEqual([{ value: agentId(ACME, 'claude-code'), name: 'claude-code', count: 3 }])
    expect(kind).toEqual([
      { value: 'allow', name: null, count: 2 },
      { value: 'block', name: null, count: 1 },
    ])
  })
})

describe('hooks.preview', () => {
  const preview = (hook: object, more: object = {}) =>
    methods.call('hooks.preview', { hook: { event: 'pre_tool_use', ...hook }, ...more }, operator)

  test('tells which of the latest events a hook would match, and why not', async () => {
    const found = await preview({ matcher: 'Bash', if_expr: 'tool_input.command.startsWith("git push")' })
    expect(found).toMatchObject({ checked: 4, matched: 1, changes: { block: 1, ask: 0, rewrite: 0 } })
    const byId = new Map(found.rows.map((row) => [row.event_id, row]))
    expect(byId.get('e1')).toMatchObject({ would: 'match', kind: 'block', what: 'git push --force' })
    expect(byId.get('e0')).toMatchObject({ would: 'no match', why: 'if_expr is false' })
    expect(byId.get('e3')).toMatchObject({ would: 'no match', why: expect.stringContaining('"Edit"') })
    expect(byId.has('e2')).toBe(false)
  })

  test('a condition that cannot be evaluated matches on a gate, as in a dispatch', async () => {
    const { rows } = await preview({ if_expr: 'tool_input.missing == 1' }, { limit: 1 })
    expect(rows).toMatchObject([
      { would: 'match', why: expect.stringContaining('if_expr cannot be evaluated') },
    ])
  })

  test('only hooks of scope agent look at the agents', async () => {
    expect(await preview({ scope: 'agent', agent_ids: ['other'] })).toMatchObject({ matched: 0 })
    expect(await preview({ scope: 'agent', agent_ids: ['claude-code'] })).toMatchObject({ matched: 4 })
    expect(await preview({ scope: 'tenant', agent_ids: ['other'] })).toMatchObject({ matched: 4 })
  })

  test('a condition that does not compile is reported at its field, and an unknown event too', async () => {
    await expect(preview({ matcher: '(' })).rejects.toMatchObject({ code: 'match.syntax', at: 'matcher:1' })
    await expect(preview({ if_expr: 'tool_name ==' })).rejects.toMatchObject({
      at: expect.stringMatching(/^if_expr/),
    })
    await expect(preview({ event: 'no_such_event' })).rejects.toMatchObject({ code: 'input.unknown_event' })
    await expect(methods.call('hooks.preview', { hook: {} }, operator)).rejects.toMatchObject({ at: 'event' })
  })

  test('saves and records nothing, and needs an operator', async () => {
    const before = await methods.call('events.list', { probes: true }, viewer)
    await preview({ matcher: 'Bash', handler_type: 'command', config: { command: 'touch /tmp/never' } })
    expect(await methods.call('events.list', { probes: true }, viewer)).toEqual(before)
    expect((await methods.call('hooks.list', {})).hooks).toEqual([])
    await expect(methods.call('hooks.preview', { hook: {} }, viewer)).rejects.toMatchObject({
      code: 'auth.scope',
    })
  })
})

describe('sessions and the caller', () => {
  test('a session is listed and read with its sums, and the doctor’s only on request', async () => {
    const { sessions } = await methods.call('sessions.list', {}, viewer)
    expect(sessions).toMatchObject([{ session_id: 's1', agent: 'claude-code', project: 'shop', blocked: 1 }])
    const { session } = await methods.call('sessions.get', { sessionId: 's1' }, viewer)
    expect(session).toEqual(sessions[0])
    expect((await methods.call('sessions.list', { probes: true }, viewer)).sessions).toHaveLength(2)
    await expect(methods.call('sessions.get', { sessionId: 'none' })).rejects.toMatchObject({
      code: 'gateway.not_found',
    })
  })

  test('every caller learns who it is; only a master caller learns the tenants', async () => {
    const agent = { ...admin, role: 'agent' } as const
    expect(await methods.call('caller.get', {}, agent)).toEqual({
      name: 'ada',
      role: 'agent',
      tenant: ACME,
      tenant_name: 'acme',
      demo: false,
      master: false,
      edition: 'lite',
      version: '0.0.0-test',
    })
    expect(await methods.call('caller.get', {}, master)).toMatchObject({
      master: true,
      tenants: [
        { id: ACME, name: 'acme' },
        { id: GLOBEX, name: 'globex' },
      ],
    })
  })
})
