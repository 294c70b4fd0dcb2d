import { basename } from 'node:path'
import { agentId } from '../../access/agent-id.ts'
import type { Caller } from '../../access/caller.ts'
import { decisionKinds } from '../../engine/core/decision.ts'
import { nullable, numeric } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { resolveCatalogueName } from '../../hook-files/read/read-hook-file.ts'
import { defineCall, defineSubscription } from '../../methods/method.ts'
import { pageFields, probeField, requestedPage, shortText, timeFields } from '../../methods/method-fields.ts'
import { rowFields } from '../../methods/row-fields.ts'
import { type EventFilter, type EventSummary, summaries } from '../view-tables.ts'

const eventSummary = schema.object({
  ...rowFields(summaries, [], {
    agent: 'The name of the agent.',
    lane: 'The sub-agent; null for the main agent.',
    what: 'The argument that tells most, redacted.',
    opened: 'The policies that let it pass although a hook failed.',
    failed: 'How many hooks failed.',
    shadow: 'How many shadow hooks would have made the decision stricter.',
    by_hook: 'The hook that decided, or the last one that rewrote the input.',
    probe: 'A probe of `hookhelm doctor`.',
  }),
  project: nullable(schema.text('The last part of `folder`.')),
})

/** The filters that the list of events and its facets share. */
export const eventFilterFields = {
  ...schema.partial({
    event: shortText('Any name of the event.'),
    agent: shortText('Id or name.'),
    session: shortText(),
    kind: schema.choice(decisionKinds),
    hook: shortText('Id of the hook that decided or rewrote.'),
    tool: shortText(),
    text: shortText('A part of `what`.'),
    minMs: numeric('Only events whose hooks took at least this long.', { min: 0 }),
    rewritten: schema.boolean(),
    opened: schema.boolean('Whether a policy let it pass although a hook failed.'),
    failed: schema.boolean('Whether a hook failed.'),
  }),
  ...timeFields,
  ...probeField,
}

const filterSchema = schema.object(eventFilterFields)
export type EventListFilter = SchemaType<typeof filterSchema>

/** The filter of the store for the parameters of a method. */
export function toEventFilter(given: EventListFilter, { tenant }: Caller): EventFilter {
  const { event, agent, session, hook, minMs, ...rest } = given
  return {
    ...rest,
    ...(event === undefined ? {} : { event: resolveCatalogueName(event) }),
    ...(agent === undefined ? {} : { agent_id: agentId(tenant, agent) }),
    ...definedFields({ session_id: session, by_hook: hook, min_ms: minMs }),
  }
}

/** The last part of a folder, also of a Windows path. */
export function projectName(folder: string | null): string | null {
  return folder === null ? null : basename(folder.replaceAll('\\', '/')) || folder
}

const eventPage = schema.object({ events: schema.list(eventSummary), nextCursor: schema.text() })

function toItem(row: EventSummary): SchemaType<typeof eventSummary> {
  return { ...row, project: projectName(row.folder) }
}

const list = defineCall({
  name: 'events.list',
  about: 'Recorded events, newest first; a short page with a cursor goes on with older events.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/events' },
  params: schema.object({ ...eventFilterFields, ...pageFields }),
  result: eventPage,
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { cursor: _, limit: __, ...filter } = params
    const { rows, nextCursor } = await parts.store.listEvents(
      caller.tenant,
      toEventFilter(filter, caller),
      requestedPage(params),
    )
    return { events: rows.map(toItem), nextCursor }
  },
})

const tail = defineSubscription({
  name: 'events.tail',
  about: 'Events as they are recorded, oldest first, from a cursor or from now.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/events/tail' },
  params: schema.object({ ...probeField, ...pageFields }),
  result: eventPage,
  event: 'event',
  endedBy: 'events.untail',
  item: eventSummary,
  itemsOf: ({ events }) => events,
  watch: ({ onRecorded }, listener) => onRecorded(listener),
  needs: ['store', 'onRecorded'],
  async run({ params, caller, parts }) {
    const { cursor, limit } = { cursor: undefined, ...requestedPage(params) }
    const { probes = false } = params
    const { rows, nextCursor } = await parts.store.tailEvents(caller.tenant, cursor, { limit, probes })
    return { events: rows.map(toItem), nextCursor }
  },
})

export const eventListMethods = [list, tail] as const
