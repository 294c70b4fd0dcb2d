import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import type { SessionRow } from '../../store/stores/audit-store.ts'
import { projectOf } from './event-list.ts'
import { defineCall } from './method.ts'
import { pageFields, readonlyList, requestedPage, shortText } from './method-fields.ts'

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
  return { ...row, project: projectOf(row.folder) }
}

const list = defineCall({
  name: 'sessions.list',
  about: 'Sessions that sent events, latest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/sessions' },
  params: z.strictObject({
    probes: z.boolean().describe('Include the sessions of `hookhelm doctor`.').exactOptional(),
    ...pageFields,
  }),
  result: z.object({ sessions: readonlyList(session), nextCursor: z.string() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { probes = false } = params
    const page = { ...requestedPage(params), probes }
    const { rows, nextCursor } = await parts.store.listSessions(caller.tenant, page)
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

export const sessionMethods = [list, get] as const
