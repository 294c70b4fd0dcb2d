import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Store } from '../../store/store.ts'
import type { SessionRow, TimelineRow } from '../../store/stores/audit-store.ts'
import { timelineDetails } from '../audit/timeline-details.ts'
import { type Caller, reaches } from '../auth/caller.ts'
import { hookNames } from '../hooks/find-hook.ts'
import { agentName } from '../tenancy/agent-names.ts'
import { projectName } from './event-list.ts'
import { defineCall } from './method.ts'
import {
  pageFields,
  probeField,
  readonlyList,
  requestedPage,
  shortText,
  timeFields,
  withoutProbes,
} from './method-fields.ts'

const session = z.object({
  tenant_id: z.string(),
  session_id: z.string(),
  agent_id: z.string().nullable(),
  agent: z.string().nullable().describe('The name of the agent.'),
  project: z.string().nullable().describe('The last part of `folder`.'),
  folder: z.string().nullable().describe('The folder in which the session began.'),
  title: z.string().nullable().describe('The beginning of the first prompt, redacted.'),
  first_at: z.number(),
  last_at: z.number(),
  events: z.number(),
  tool_calls: z.number(),
  blocked: z.number(),
  rewritten: z.number(),
  asked: z.number(),
  hook_ms: z.number().describe('How long its events waited for hooks, in total.'),
  sub_agents: z.number(),
  ended: z.boolean(),
})

function toSession(row: SessionRow): z.output<typeof session> {
  const { tenant_id: tenant, agent_id: id } = row
  // Sessions of older versions have no name of their agent.
  const agent = row.agent ?? (id === null ? null : agentName(tenant, id))
  return { ...row, agent, project: projectName(row.folder) }
}

const list = defineCall({
  name: 'sessions.list',
  about: 'Sessions that sent events, latest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/sessions' },
  params: z.strictObject({ ...timeFields, ...probeField, ...pageFields }),
  result: z.object({ sessions: readonlyList(session), nextCursor: z.string() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { since, until, probes } = params
    const filter = {
      ...withoutProbes(probes),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    }
    const { rows, nextCursor } = await parts.store.listSessions(caller.tenant, filter, requestedPage(params))
    return { sessions: rows.map(toSession), nextCursor }
  },
})

const get = defineCall({
  name: 'sessions.get',
  about: 'One session.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/sessions/:sessionId' },
  params: z.strictObject({ sessionId: shortText }),
  result: z.object({ session }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const row = await parts.store.findSession(caller.tenant, params.sessionId)
    if (row === undefined) throw serverError('gateway.not_found', `session not found: ${params.sessionId}`)
    return { session: toSession(row) }
  },
})

const change = z.object({
  hook: z.string(),
  hook_name: z.string().nullable(),
  field: z.string(),
  before: z.string(),
  after: z.string(),
})

const timelineEvent = z.object({
  event_id: z.string(),
  event: z.string(),
  kind: z.enum(['allow', 'ask', 'block']),
  by_hook: z.string().nullable(),
  by_hook_name: z.string().nullable(),
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
    name: z.string().describe('The name of the agent, if it differs from `agent`.').exactOptional(),
  }),
  argument: z
    .string()
    .describe('What the call is about: its command, path, address or first words, redacted.')
    .exactOptional(),
  reason: z.string().describe('Why the decision was made, redacted.').exactOptional(),
  rewritten: z.boolean().describe('Whether a hook changed the input.'),
  changes: readonlyList(change)
    .describe('Fields of the input that hooks rewrote, redacted; operators only.')
    .exactOptional(),
})

const timeline = defineCall({
  name: 'sessions.timeline',
  about: 'The events of one session in order: turns, tool calls, sub-agents, decisions and rewrites.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/sessions/:sessionId/timeline' },
  params: z.strictObject({ sessionId: shortText, ...pageFields }),
  result: z.object({ events: readonlyList(timelineEvent), nextCursor: z.string() }),
  needs: ['store'],
  async run({ params: { sessionId, ...page }, caller, parts: { store } }) {
    const { rows, nextCursor } = await store.sessionEvents(caller.tenant, sessionId, requestedPage(page))
    return { events: await withDetails(rows, caller, store), nextCursor }
  },
})

/** Limits what one page decrypts and parses. Events beyond it have no details. */
const MAX_TEXTS = 32 * 1_048_576

/**
 * Like `events.get`, the timeline reads requests for operators only. Other callers get the summary that `events.list`
 * shows them.
 */
async function withDetails(rows: readonly TimelineRow[], caller: Caller, store: Store) {
  const { tenant, role } = caller
  const ids = rows.map(({ event_id }) => event_id)
  const texts = reaches(role, 'operator') ? await store.eventTexts(tenant, ids, MAX_TEXTS) : []
  const byEvent = new Map(texts.map((text) => [text.event_id, text]))
  const detailed = rows.map((row) => {
    const found = byEvent.get(row.event_id)
    return { row, details: found === undefined ? {} : timelineDetails(row.event, found) }
  })
  const hooks = detailed.flatMap(({ row, details }) => [
    row.by_hook,
    ...(details.changes ?? []).map(({ hook }) => hook),
  ])
  const names = await hookNames(store, tenant, hooks)
  const nameOf = (hook: string | null) => (hook === null ? null : (names.get(hook) ?? null))
  return detailed.map(({ row: { what, reason, ...row }, details: { changes, ...details } }) => ({
    ...row,
    by_hook_name: nameOf(row.by_hook),
    ...(what === null ? {} : { argument: what }),
    ...(reason === null ? {} : { reason }),
    ...details,
    ...(changes === undefined
      ? {}
      : { changes: changes.map((each) => ({ ...each, hook_name: nameOf(each.hook) })) }),
  }))
}

export const sessionMethods = [list, get, timeline] as const
