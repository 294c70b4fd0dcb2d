import { z } from 'zod'
import { isRecord } from '../../engine/core/check.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { explainMisses } from '../audit/explain-misses.ts'
import type { Caller } from '../auth/caller.ts'
import type { MethodParts } from '../parts.ts'
import { defineCall } from './method.ts'
import { shortText } from './method-fields.ts'

const params = z.strictObject({ eventId: shortText })

const event = z.object({
  tenant_id: z.string(),
  event_id: z.string(),
  event: z.string(),
  session_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  kind: z.enum(['allow', 'ask', 'block']),
  by_hook: z.string().nullable(),
  code: z.string().nullable(),
  duration_ms: z.number(),
  created_at: z.number(),
})

const get = defineCall({
  name: 'events.get',
  about: 'One recorded event: the request and the decision.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/events/:eventId' },
  params,
  result: z.object({
    event,
    request: z
      .unknown()
      .describe('The request as received; absent if its encryption key no longer exists.')
      .exactOptional(),
    decision: z.unknown().exactOptional(),
  }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { row, request, decision } = await findRecorded(params.eventId, caller, parts)
    return { event: row, ...definedFields({ request, decision }) }
  },
})

const explain = defineCall({
  name: 'events.explain',
  about: 'The full trace of a recorded event: why the decision was made.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/events/:eventId/explain' },
  params,
  result: z.object({
    event,
    request: z.unknown().exactOptional(),
    decision: z.unknown().exactOptional(),
    trace: z
      .unknown()
      .describe('For each hook: whether it matched, what it returned, and why.')
      .exactOptional(),
  }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { row, trace, ...rest } = await findRecorded(params.eventId, caller, parts)
    const hooks = await parts.store.listHooks(caller.tenant, { event: row.event })
    return { event: row, ...definedFields({ ...rest, trace: explainMisses(trace, hooks, row.created_at) }) }
  },
})

async function findRecorded(eventId: string, caller: Caller, { store }: Pick<MethodParts, 'store'>) {
  const found = await store.findEvent(caller.tenant, eventId)
  if (found === undefined) throw serverError('gateway.not_found', `event not found: ${eventId}`)
  const { request, answer, ...row } = found
  const recorded = parseStored(answer)
  const { decision, trace } = isRecord(recorded) ? recorded : {}
  return { row, request: parseStored(request), decision, trace }
}

function parseStored(json: string | undefined): unknown {
  return json === undefined ? undefined : JSON.parse(json)
}

function definedFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

export const eventMethods = [get, explain] as const
