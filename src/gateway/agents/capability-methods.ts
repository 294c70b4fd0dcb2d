import { agentId } from '../../access/agent-id.ts'
import { describeAbilities } from '../../agents/agent-abilities.ts'
import { agentAdapters } from '../../agents/table.ts'
import { nullable, numeric } from '../../engine/core/schema/more-schemas.ts'
import { schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { noParams } from '../../methods/method-fields.ts'

const capability = schema.object({
  agent: schema.text(),
  title: schema.text(),
  can: schema.list(schema.text(), 'What hooks can do there, for example `tool calls: blocked`.'),
  cannot: schema.list(schema.text(), 'What the agent does not honour.'),
  last_at: nullable(numeric('When its last event came; null if none is recorded.')),
})

const list = defineCall({
  name: 'capabilities.list',
  about: 'What hooks can do with each coding agent, and when it was last seen.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/capabilities' },
  params: noParams,
  result: schema.object({ capabilities: schema.list(capability) }),
  needs: ['store'],
  async run({ caller: { tenant }, parts: { store } }) {
    const capabilities = agentAdapters.map(async (adapter) => {
      const filter = { agent_id: agentId(tenant, adapter.name) }
      const { rows } = await store.listEvents(tenant, filter, { limit: 1 })
      return {
        agent: adapter.name,
        title: adapter.title,
        ...describeAbilities(adapter),
        last_at: rows[0]?.created_at ?? null,
      }
    })
    return { capabilities: await Promise.all(capabilities) }
  },
})

export const capabilityMethods = [list] as const
