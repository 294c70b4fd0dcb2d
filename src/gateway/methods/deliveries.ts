import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import { listOf, pageFields, pageOf, text } from './fields.ts'
import { method } from './method.ts'

const state = z.enum(['waiting', 'leased', 'dead'])

const list = method({
  name: 'deliveries.list',
  about: 'Work that waits, is under way, or failed as often as it may.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/deliveries' },
  params: z.strictObject({ state: state.exactOptional(), kind: text.exactOptional(), ...pageFields }),
  result: z.object({
    deliveries: listOf(
      z.object({
        id: z.string(),
        tenant_id: z.string(),
        kind: z.string(),
        dedup_key: z.string(),
        state,
        attempts: z.number(),
        due_at: z.number(),
        last_error: z.string().nullable(),
        created_at: z.number(),
      }),
    ),
    nextCursor: z.string(),
  }),
  async run({ params, caller, parts }) {
    const { cursor: _, limit: __, ...filter } = params
    const { rows, nextCursor } = await parts.store.listDeliveries(caller.tenant, filter, pageOf(params))
    return { deliveries: rows, nextCursor }
  },
})

const replay = method({
  name: 'deliveries.replay',
  about: 'Tries dead deliveries again from the start.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/deliveries/replay' },
  params: z.strictObject({
    ids: listOf(text).exactOptional(),
    all: z.boolean().describe('Every dead one of the tenant.').exactOptional(),
  }),
  result: z.object({ replayed: z.number() }),
  async run({ params, caller, parts }) {
    const { ids = [], all = false } = params
    if (all === ids.length > 0) throw serverError('gateway.request', 'either ids or all is required')
    const replayed = await parts.store.replayDeliveries(caller.tenant, all ? 'all' : ids, parts.clock.now())
    parts.wakeDeliveries()
    return { replayed }
  },
})

export const deliveryMethods = [list, replay] as const
