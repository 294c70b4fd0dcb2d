import { basename } from 'node:path'
import { z } from 'zod'
import { resolveCatalogueName } from '../../config/read/read-hook-file.ts'
import type { EventFilter, EventSummary } from '../../store/stores/view-store.ts'
import type { Caller } from '../auth/caller.ts'
import { agentId } from '../tenancy/agent-id.ts'
import { defineCall, defineSubscription } from './method.ts'
import {
  pageFields,
  probeField,
  readonlyList,
  requestedPage,
  shortText,
  timeFields,
} from './method-fields.ts'

const eventSummary = z.object({
  event_id: z.string(),
  event: z.string(),
  session_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  agent: z.string().nullable().describe('The name of the agent.'),
  project: z.string().nullable().describe('The last part of `folder`.'),
  folder: z.string().nullable(),
  lane: z.string().nullable().describe('The sub-agent; null for the main agent.'),
  tool: z.string().nullable(),
  what: z.string().nullable().describe('The argument that tells most, redacted.'),
  kind: z.enum(['allow', 'ask', 'block']),
  rewritten: z.boolean(),
  opened: z.string().nullable().describe('The policies that let it pass although a hook failed.'),
  failed: z.number().describe('How many hooks failed.'),
  shadow: z.number().describe('How many shadow hooks would have made the decision stricter.'),
  by_hook: z.string().nullable().describe('The hook that decided, or the last one that rewrote the input.'),
  hook_name: z.string().nullable(),
  reason: z.string().nullable(),
  code: z.string().nullable(),
  duration_ms: z.number(),
  created_at: z.number(),
  probe: z.boolean().describe('A probe of `hookhelm doctor`.'),
})

/** The filters that the list of events and its facets share. */
export const eventFilterFields = {
  event: shortText.describe('Any name of the event.').exactOptional(),
  agent: shortText.describe('Id or name.').exactOptional(),
  session: shortText.exactOptional(),
  kind: z.enum(['allow', 'ask', 'block']).exactOptional(),
  hook: shortText.describe('Id of the hook that decided or rewrote.').exactOptional(),
  tool: shortText.exactOptional(),
  text: shortText.describe('A part of `what`.').exactOptional(),
  minMs: z.number().min(0).describe('Only events whose hooks took at least this long.').exactOptional(),
  rewritten: z.boolean().exactOptional(),
  opened: z.boolean().describe('Whether a policy let it pass although a hook failed.').exactOptional(),
  failed: z.boolean().describe('Whether a hook failed.').exactOptional(),
  ...timeFields,
  ...probeField,
}

const filterSchema = z.object(eventFilterFields)

/** The filter of the store for the parameters of a method. */
export function toEventFilter(given: z.output<typeof filterSchema>, { tenant }: Caller): EventFilter {
  const { event, agent, session, hook, minMs, ...rest } = given
  return {
    ...rest,
    ...(event === undefined ? {} : { event: resolveCatalogueName(event) }),
    ...(agent === undefined ? {} : { agent_id: agentId(tenant, agent) }),
    ...(session === undefined ? {} : { session_id: session }),
    ...(hook === undefined ? {} : { by_hook: hook }),
    ...(minMs === undefined ? {} : { min_ms: minMs }),
  }
}

/** The last part of a folder, also of a Windows path. */
export function projectName(folder: string | null): string | null {
  return folder === null ? null : basename(folder.replaceAll('\\', '/')) || folder
}

const eventPage = z.object({ events: readonlyList(eventSummary), nextCursor: z.string() })

function toItem(row: EventSummary): z.output<typeof eventSummary> {
  return { ...row, project: projectName(row.folder) }
}

const list = defineCall({
  name: 'events.list',
  about: 'Recorded events, newest first; a short page with a cursor goes on with older events.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/events' },
  params: z.strictObject({ ...eventFilterFields, ...pageFields }),
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
  params: z.strictObject({ ...probeField, ...pageFields }),
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
