import { serverError } from '../engine/core/errors/server-errors.ts'
import { numeric } from '../engine/core/schema/more-schemas.ts'
import { schema } from '../engine/core/schema/schema.ts'
import { defineCall } from '../methods/method.ts'
import { pageFields, requestedPage, shortText } from '../methods/method-fields.ts'
import { rowFields } from '../methods/row-fields.ts'
import { deliveries } from './delivery-table.ts'

const state = schema.choice(['waiting', 'leased', 'dead'])

const list = defineCall({
  name: 'deliveries.list',
  about: 'Queued deliveries: waiting, leased to a worker, or dead after the last attempt.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/deliveries' },
  params: schema.object({ state: schema.optional(state), kind: schema.optional(shortText()), ...pageFields }),
  result: schema.object({
    deliveries: schema.list(schema.object({ ...rowFields(deliveries, []), state })),
    nextCursor: schema.text(),
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
  params: schema.object(
    schema.partial({
      ids: schema.list(shortText()),
      all: schema.boolean('Every dead delivery of the tenant.'),
    }),
  ),
  result: schema.object({ replayed: numeric() }),
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
