import { agentName } from '../../access/agent-names.ts'
import { type Caller, reaches } from '../../access/caller.ts'
import { decisionKinds } from '../../engine/core/decision.ts'
import { nullable, numeric } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { defineCall } from '../../methods/method.ts'
import {
  found,
  pageFields,
  probeField,
  requestedPage,
  shortText,
  timeFields,
  withoutProbes,
} from '../../methods/method-fields.ts'
import { rowFields } from '../../methods/row-fields.ts'
import type { Store } from '../../store/store.ts'
import { hookNames } from '../../stored-hooks/saving/find-hook.ts'
import { type SessionRow, sessions, type TimelineRow } from '../audit-tables.ts'
import { timelineDetails } from '../record/timeline-details.ts'
import { projectName } from './event-list-methods.ts'

const session = schema.object({
  ...rowFields(sessions, ['ended_at'], {
    agent: 'The name of the agent.',
    folder: 'The folder in which the session began.',
    title: 'The beginning of the first prompt, redacted.',
    hook_ms: 'How long its events waited for hooks, in total.',
  }),
  project: nullable(schema.text('The last part of `folder`.')),
  sub_agents: numeric(),
  ended: schema.boolean(),
})

function toSession(row: SessionRow): SchemaType<typeof session> {
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
  params: schema.object({ ...timeFields, ...probeField, ...pageFields }),
  result: schema.object({ sessions: schema.list(session), nextCursor: schema.text() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { since, until, probes } = params
    const filter = { ...withoutProbes(probes), ...definedFields({ since, until }) }
    const { rows, nextCursor } = await parts.store.listSessions(caller.tenant, filter, requestedPage(params))
    return { sessions: rows.map(toSession), nextCursor }
  },
})

const get = defineCall({
  name: 'sessions.get',
  about: 'One session.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/sessions/:sessionId' },
  params: schema.object({ sessionId: shortText() }),
  result: schema.object({ session }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const row = await parts.store.findSession(caller.tenant, params.sessionId)
    return { session: toSession(found(row, 'session', params.sessionId)) }
  },
})

const change = schema.object({
  hook: schema.text(),
  hook_name: nullable(schema.text()),
  field: schema.text(),
  before: schema.text(),
  after: schema.text(),
})

const timelineEvent = schema.object({
  event_id: schema.text(),
  event: schema.text(),
  kind: schema.choice(decisionKinds),
  by_hook: nullable(schema.text()),
  by_hook_name: nullable(schema.text()),
  code: nullable(schema.text()),
  duration_ms: numeric(),
  created_at: numeric(),
  moment: schema.object(
    schema.partial({
      agent: schema.text(),
      turn: schema.text(),
      lane: schema.text('The sub-agent; absent for the main agent.'),
      parent: schema.text(),
      depth: numeric(),
      tool_call: schema.text(),
      tool: schema.text(),
      name: schema.text('The name of the agent, if it differs from `agent`.'),
    }),
  ),
  argument: schema.optional(
    schema.text('What the call is about: its command, path, address or first words, redacted.'),
  ),
  reason: schema.optional(schema.text('Why the decision was made, redacted.')),
  rewritten: schema.boolean('Whether a hook changed the input.'),
  changes: schema.optional(
    schema.list(change, 'Fields of the input that hooks rewrote, redacted; operators only.'),
  ),
})

const timeline = defineCall({
  name: 'sessions.timeline',
  about: 'The events of one session in order: turns, tool calls, sub-agents, decisions and rewrites.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/sessions/:sessionId/timeline' },
  params: schema.object({ sessionId: shortText(), ...pageFields }),
  result: schema.object({ events: schema.list(timelineEvent), nextCursor: schema.text() }),
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
