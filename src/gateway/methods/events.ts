import { z } from 'zod'
import { isRecord } from '../../engine/core/check.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Caller } from '../auth/caller.ts'
import type { GatewayParts } from '../parts.ts'
import { text } from './fields.ts'
import { method } from './method.ts'

const params = z.strictObject({ eventId: text })

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

const get = method({
  name: 'events.get',
  about: 'One recorded event: what came in, and what was decided.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/events/:eventId' },
  params,
  result: z.object({
    event,
    request: z.unknown().describe('The event as it came in; absent when its key is gone.').exactOptional(),
    decision: z.unknown().exactOptional(),
  }),
  async run({ params, caller, parts }) {
    const { row, request, decision } = await recorded(params.eventId, caller, parts)
    return { event: row, ...present({ request, decision }) }
  },
})

const explain = method({
  name: 'events.explain',
  about: 'Why a recorded event was decided so: its full trace.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/events/:eventId/explain' },
  params,
  result: z.object({
    event,
    request: z.unknown().exactOptional(),
    decision: z.unknown().exactOptional(),
    trace: z.unknown().describe('Each hook: whether it matched, what it did, and why.').exactOptional(),
  }),
  async run({ params, caller, parts }) {
    const { row, ...rest } = await recorded(params.eventId, caller, parts)
    return { event: row, ...present(rest) }
  },
})

async function recorded(eventId: string, caller: Caller, parts: GatewayParts) {
  const found = await parts.store.findEvent(caller.tenant, eventId)
  if (found === undefined) throw serverError('gateway.not_found', `event not found: ${eventId}`)
  const { request, answer, ...row } = found
  const told = parsed(answer)
  const { decision, trace } = isRecord(told) ? told : {}
  return { row, request: parsed(request), decision, trace }
}

function parsed(json: string | undefined): unknown {
  return json === undefined ? undefined : JSON.parse(json)
}

function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

export const eventMethods = [get, explain] as const
