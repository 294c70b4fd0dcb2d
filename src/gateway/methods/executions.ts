import { z } from 'zod'
import { resolveCatalogueName } from '../../config/read/read-hook-file.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { ExecutionRow } from '../../store/stores/audit-store.ts'
import { agentId } from '../tenancy/agent-id.ts'
import { defineCall, defineSubscription } from './method.ts'
import { pageFields, readonlyList, requestedPage, shortText } from './method-fields.ts'

const decision = z.enum(['allow', 'ask', 'block', 'error', 'timeout', 'skipped', 'late', 'aborted'])

const execution = z.object({
  id: z.string(),
  tenant_id: z.string(),
  hook_id: z.string().nullable().describe('null if the hook was deleted.'),
  event_id: z.string(),
  event: z.string(),
  handler_type: z.string(),
  session_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  input_hash: z.string(),
  decision,
  duration_ms: z.number(),
  retry: z.number(),
  dedup_key: z.string(),
  code: z.string().nullable(),
  error: z.string().nullable(),
  shadow: z.boolean(),
  unreadable: z
    .boolean()
    .describe('The hook answered with text that is not a decision, and the event passed without one.'),
  metadata: z.record(z.string(), z.unknown()).readonly(),
  created_at: z.number(),
})

/** The row with its flag: an allow for want of an answer must not look like a clean one. */
function toExecution(row: ExecutionRow): z.output<typeof execution> {
  return { ...row, unreadable: row.metadata.unreadable === true }
}

const page = z.object({ executions: readonlyList(execution), nextCursor: z.string() })

const history = defineCall({
  name: 'hooks.history',
  about: 'Executions of hooks, newest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/executions' },
  params: z.strictObject({
    hookId: shortText.exactOptional(),
    event: shortText.describe('Any name of the event.').exactOptional(),
    eventId: shortText.exactOptional(),
    decision: decision.exactOptional(),
    sessionId: shortText.exactOptional(),
    agentId: shortText.describe('Id or name.').exactOptional(),
    shadow: z.boolean().exactOptional(),
    since: z.number().describe('Milliseconds since 1970.').exactOptional(),
    until: z.number().describe('Milliseconds since 1970.').exactOptional(),
    ...pageFields,
  }),
  result: page,
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { hookId, event, eventId, sessionId, agentId: agent, cursor, limit, ...rest } = params
    const filter = {
      ...rest,
      ...(hookId === undefined ? {} : { hook_id: hookId }),
      ...(event === undefined ? {} : { event: resolveCatalogueName(event) }),
      ...(eventId === undefined ? {} : { event_id: eventId }),
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
      ...(agent === undefined ? {} : { agent_id: agentId(caller.tenant, agent) }),
    }
    const { rows, nextCursor } = await parts.store.history(caller.tenant, filter, requestedPage(params))
    return { executions: rows.map(toExecution), nextCursor }
  },
})

const get = defineCall({
  name: 'executions.get',
  about: 'One execution with the full text of its error.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/events/:eventId/executions/:executionId' },
  params: z.strictObject({ eventId: shortText, executionId: shortText }),
  result: z.object({ execution: execution.extend({ error_detail: z.string().nullable() }) }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { eventId, executionId } = params
    const found = await parts.store.history(caller.tenant, { event_id: eventId }, { limit: MAX_PER_EVENT })
    const row = found.rows.find(({ id }) => id === executionId)
    if (row === undefined) throw serverError('gateway.not_found', `execution not found: ${executionId}`)
    const detail = await parts.store.errorDetail(caller.tenant, executionId)
    return { execution: { ...toExecution(row), error_detail: detail ?? null } }
  },
})

const MAX_PER_EVENT = 1_000

const tail = defineSubscription({
  name: 'executions.tail',
  about: 'Executions as they are recorded, oldest first, from a cursor or from now.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/executions/tail' },
  params: z.strictObject(pageFields),
  result: page,
  event: 'execution',
  endedBy: 'executions.untail',
  item: execution,
  itemsOf: ({ executions }) => executions,
  watch: ({ onRecorded }, listener) => onRecorded(listener),
  needs: ['store', 'onRecorded'],
  async run({ params, caller, parts }) {
    const { cursor, limit } = { cursor: undefined, ...requestedPage(params) }
    const { rows, nextCursor } = await parts.store.tail(caller.tenant, cursor, limit)
    return { executions: rows.map(toExecution), nextCursor }
  },
})

const sessions = defineCall({
  name: 'sessions.list',
  about: 'Sessions that sent events, latest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/sessions' },
  params: z.strictObject(pageFields),
  result: z.object({
    sessions: readonlyList(
      z.object({
        tenant_id: z.string(),
        session_id: z.string(),
        agent_id: z.string().nullable(),
        first_at: z.number(),
        last_at: z.number(),
        events: z.number(),
      }),
    ),
    nextCursor: z.string(),
  }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { rows, nextCursor } = await parts.store.listSessions(caller.tenant, requestedPage(params))
    return { sessions: rows, nextCursor }
  },
})

const timeline = defineCall({
  name: 'sessions.timeline',
  about: 'The events of one session in order: turns, tool calls, sub-agents and decisions.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/sessions/:sessionId/timeline' },
  params: z.strictObject({ sessionId: shortText, ...pageFields }),
  result: z.object({
    events: readonlyList(
      z.object({
        event_id: z.string(),
        event: z.string(),
        kind: z.enum(['allow', 'ask', 'block']),
        by_hook: z.string().nullable(),
        code: z.string().nullable(),
        duration_ms: z.number(),
        created_at: z.number(),
        moment: z.object({
          agent: z.string().exactOptional(),
          turn: z.string().exactOptional(),
          lane: z.string().describe('The sub-agent; absent for the main agent.').exactOptional(),
          parent: z.string().exactOptional(),
          depth: z.number().exactOptional(),
          tool_call: z.string().exactOptional(),
          tool: z.string().exactOptional(),
        }),
      }),
    ),
    nextCursor: z.string(),
  }),
  needs: ['store'],
  async run({ params: { sessionId, ...page }, caller, parts }) {
    const { rows, nextCursor } = await parts.store.sessionEvents(
      caller.tenant,
      sessionId,
      requestedPage(page),
    )
    return { events: rows, nextCursor }
  },
})

export const executionMethods = [history, get, tail, sessions, timeline] as const
