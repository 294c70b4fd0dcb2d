import { serverError } from '../../engine/core/errors/server-errors.ts'
import { looseObject, nullable } from '../../engine/core/schema/more-schemas.ts'
import { schema } from '../../engine/core/schema/schema.ts'
import { isoTime } from '../../engine/core/time/clock.ts'
import { defineCall, defineSubscription } from '../../methods/method.ts'
import { pageFields, requestedPage, shortText } from '../../methods/method-fields.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { rowFields, toResult } from '../../methods/row-fields.ts'
import { findResult, MESSAGES_EVENT, noResult } from '../run-events.ts'
import { type RunEventRow, type RunSessionRow, runSessions } from '../stored/run-tables.ts'

const session = schema.object(rowFields(runSessions, ['tenant_id']))

/** An event with its own fields next to the common ones, as the original has them. */
const event = looseObject({
  event_id: schema.text(),
  event_type: schema.text(),
  session_id: schema.text(),
  run_id: nullable(schema.text()),
  timestamp: schema.text(),
  position: schema.text('The cursor after this event.'),
})

function toEvent({ event_id, event_type, session_id, run_id, created_at, position, data }: RunEventRow) {
  const timestamp = isoTime(created_at)
  return { ...data, event_id, event_type, session_id, run_id, timestamp, position }
}

const session_id = shortText()

const list = defineCall({
  name: 'runSessions.list',
  about: 'Sessions of runs, newest first.',
  role: 'viewer',
  rest: {
    verb: 'GET',
    path: '/v1/run-sessions',
    original: {
      path: '/sessions',
      answer: ({ sessions, nextCursor }) => ({ sessions, ...(nextCursor === '' ? {} : { nextCursor }) }),
    },
  },
  params: schema.object({
    parent_session_id: schema.optional(shortText()),
    created_by: schema.optional(shortText()),
    ...pageFields,
  }),
  result: schema.object({ sessions: schema.list(session), nextCursor: schema.text() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { cursor, limit, ...filter } = params
    const page = await parts.store.listRunSessions(caller.tenant, filter, requestedPage(params))
    return { sessions: page.rows.map((row) => toResult(session, row)), nextCursor: page.nextCursor }
  },
})

const show = defineCall({
  name: 'runSessions.show',
  about: 'One session of runs.',
  role: 'viewer',
  rest: {
    verb: 'GET',
    path: '/v1/run-sessions/:session_id',
    original: { path: '/sessions/:session_id' },
  },
  params: schema.object({ session_id }),
  result: schema.object({ session }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    return { session: toResult(session, await requireSession(parts.store, caller.tenant, params.session_id)) }
  },
})

const events = defineCall({
  name: 'runSessions.events',
  about: 'The events of one session, oldest first.',
  role: 'viewer',
  rest: {
    verb: 'GET',
    path: '/v1/run-sessions/:session_id/events',
    original: { path: '/sessions/:session_id/events' },
  },
  params: schema.object({
    session_id,
    event_type: schema.optional(
      shortText(
        'Only events of this type. Without it, all but `messages`: what a model needs to be resumed.',
      ),
    ),
    ...pageFields,
  }),
  result: schema.object({ events: schema.list(event), nextCursor: schema.text() }),
  needs: ['store'],
  async run({ params, caller, parts: { store } }) {
    await requireSession(store, caller.tenant, params.session_id)
    const { limit, cursor } = { cursor: undefined, ...requestedPage(params) }
    const filter = { session_id: params.session_id }
    const page = cursor === undefined ? { limit } : { limit, after: cursor }
    const rows = await store.listRunEvents(caller.tenant, filter, page)
    const last = rows.length === limit ? rows.at(-1)?.position : undefined
    const shown = rows.filter((row) => isOfType(row, params.event_type))
    return { events: shown.map(toEvent), nextCursor: last ?? '' }
  },
})

const result = defineCall({
  name: 'runSessions.result',
  about: 'The last result of one session.',
  role: 'viewer',
  rest: {
    verb: 'GET',
    path: '/v1/run-sessions/:session_id/result',
    original: { path: '/sessions/:session_id/result', answer: requireFinished },
  },
  params: schema.object({ session_id }),
  result: schema.object({
    session_id: schema.text(),
    status: session.fields.status,
    result_text: nullable(schema.text()),
    result_data: schema.any(),
  }),
  needs: ['store'],
  async run({ params, caller, parts: { store } }) {
    const row = await requireSession(store, caller.tenant, params.session_id)
    const found = (await findResult(store, row)) ?? noResult
    return { session_id: row.session_id, status: row.status, ...found }
  },
})

const remove = defineCall({
  name: 'runSessions.delete',
  about: 'Deletes a session with its runs and events. A session with an active run is refused.',
  role: 'operator',
  rest: {
    verb: 'DELETE',
    path: '/v1/run-sessions/:session_id',
    original: {
      path: '/sessions/:session_id',
      params: { stop_waiting: true },
      answer: (deleted) => ({ ok: true, ...deleted }),
    },
  },
  params: schema.object({
    session_id,
    stop_waiting: schema.optional(schema.boolean('First stops a run that no runner has taken yet.')),
  }),
  result: schema.object({ session_id: schema.text() }),
  needs: ['store', 'runs'],
  async run({ params: { session_id, stop_waiting = false }, caller, parts: { store, runs } }) {
    await requireSession(store, caller.tenant, session_id)
    if (stop_waiting) await runs.stopWaiting(caller.tenant, session_id)
    if (!(await runs.events.deleteSession(caller.tenant, session_id)))
      throw serverError('gateway.conflict', `session ${session_id} is busy`, {
        hint: 'Stop its run and wait until it has ended.',
        cause: { detail: 'Session is running. Stop session first.' },
      })
    return { session_id }
  },
})

/** Events that have a name of their own in the stream; all others are `event`. */
const named = ['session_created', 'session_updated', 'session_deleted', 'run_failed']
const SESSIONS_AT_START = 100

const tail = defineSubscription({
  name: 'runSessions.tail',
  about: 'Events of all sessions as they arise. The stream begins with `init`, the latest sessions.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/sse/sessions' },
  params: schema.object({
    ...schema.partial({
      session_id: shortText(),
      created_by: shortText('Only sessions that this token or hook started.'),
      include_init: schema.boolean('true if omitted.'),
    }),
    ...pageFields,
  }),
  result: schema.object({ events: schema.list(event), nextCursor: schema.text() }),
  event: 'event',
  endedBy: 'runSessions.untail',
  item: event,
  itemsOf: ({ events }) => events,
  cursorOf: ({ position }) => position,
  eventOf: ({ event_type }) => (named.includes(event_type) ? event_type : 'event'),
  watch: ({ runs }, listener) => runs.events.onAppended(listener),
  needs: ['store', 'runs'],
  async first({ params, caller, parts: { store } }) {
    if (params.include_init === false) return undefined
    const filter = params.created_by === undefined ? {} : { created_by: params.created_by }
    const { rows } = await store.listRunSessions(caller.tenant, filter, { limit: SESSIONS_AT_START })
    const { session_id: only } = params
    const shown = rows.filter((row) => only === undefined || row.session_id === only)
    return { event: 'init', data: { sessions: shown.map((row) => toResult(session, row)) } }
  },
  async run({ params, caller, parts: { store } }) {
    const { cursor, limit } = { cursor: undefined, ...requestedPage(params) }
    const { tenant } = caller
    let after = cursor
    for (;;) {
      const page = await store.tailRunEvents(tenant, after === undefined ? { limit } : { limit, after })
      const shown = await chosen(page.rows, params, { store, tenant })
      after = page.position
      // A page whose events the filter leaves out is not the last one.
      if (shown.length > 0 || page.rows.length < limit)
        return { events: shown.map(toEvent), nextCursor: page.position }
    }
  },
})

function isOfType({ event_type }: RunEventRow, wanted: string | undefined): boolean {
  return wanted === undefined ? event_type !== MESSAGES_EVENT : event_type === wanted
}

async function chosen(
  rows: readonly RunEventRow[],
  { session_id: only, created_by }: { session_id?: string; created_by?: string },
  {
    store,
    tenant,
  }: { readonly store: Pick<MethodParts['store'], 'findRunSession'>; readonly tenant: string },
): Promise<readonly RunEventRow[]> {
  const shown = rows.filter((row) => isOfType(row, undefined))
  const ofSession = shown.filter((row) => only === undefined || row.session_id === only)
  if (created_by === undefined) return ofSession
  const ids = [...new Set(ofSession.map((row) => row.session_id))]
  const sessions = await Promise.all(ids.map((id) => store.findRunSession(tenant, id)))
  const own = new Set(sessions.filter((row) => row?.created_by === created_by).map((row) => row?.session_id))
  // A session that was deleted is in its event only.
  const isOwnDeletion = ({ event_type, data }: RunEventRow) =>
    event_type === 'session_deleted' && data?.created_by === created_by
  return ofSession.filter((row) => own.has(row.session_id) || isOwnDeletion(row))
}

async function requireSession(
  store: Pick<MethodParts['store'], 'findRunSession'>,
  tenant: string,
  id: string,
): Promise<RunSessionRow> {
  const row = await store.findRunSession(tenant, id)
  if (row === undefined)
    throw serverError('gateway.not_found', `session not found: ${id}`, {
      cause: { detail: 'Session not found' },
    })
  return row
}

/** The original answers a result only after the end of a run. */
function requireFinished<Answer extends { readonly status: RunSessionRow['status'] }>(
  answer: Answer,
): Answer {
  const { status } = answer
  if (status === 'pending' || status === 'running')
    throw serverError('gateway.request', `Session not finished: it is ${status}`)
  return answer
}

export const runSessionMethods = [list, show, events, result, remove, tail] as const
