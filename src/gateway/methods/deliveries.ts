import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import { defineCall } from './method.ts'
import { pageFields, readonlyList, requestedPage, shortText } from './method-fields.ts'

const state = z.enum(['waiting', 'leased', 'dead'])

const list = defineCall({
  name: 'deliveries.list',
  about: 'Queued deliveries: waiting, leased to a worker, or dead after the last attempt.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/deliveries' },
  params: z.strictObject({ state: state.exactOptional(), kind: shortText.exactOptional(), ...pageFields }),
  result: z.object({
    deliveries: readonlyList(
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
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { cursor: _, limit: __, ...filter } = params
    const { rows, nextCursor } = await parts.store.listDeliveries(
      caller.tenant,
      filter,
      requestedPage(params),
    )
    return { deliveries: rows, nextCursor }
  },
})

const replay = defineCall({
  name: 'deliveries.replay',
  about: 'Queues dead deliveries again with all their attempts.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/deliveries/replay' },
  params: z.strictObject({
    ids: readonlyList(shortText).exactOptional(),
    all: z.boolean().describe('Every dead delivery of the tenant.').exactOptional(),
  }),
  result: z.object({ replayed: z.number() }),
  needs: ['store', 'wakeDeliveries'],
  async run({ params, caller, parts }) {
    const { ids = [], all = false } = params
    if (all === ids.length > 0) throw serverError('gateway.request', 'send either ids or all')
    const replayed = await parts.store.replayDeliveries(caller.tenant, all ? 'all' : ids)
    parts.wakeDeliveries()
    return { replayed }
  },
})

export const deliveryMethods = [list, replay] as const
