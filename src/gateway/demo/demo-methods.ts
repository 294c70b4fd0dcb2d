import type { Caller } from '../../access/caller.ts'
import { demoTenants } from '../../access/demo-tenants.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { noParams } from '../../methods/method-fields.ts'

const play = defineCall({
  name: 'demo.play',
  about: 'Plays scripted agents, without any model, in a tenant of their own.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/demo' },
  params: noParams,
  result: schema.object({
    tenantId: schema.text('The tenant to look at.'),
    tenant: schema.text('Its name.'),
    played: schema.boolean('False if the demo was there already; it is not played twice.'),
  }),
  needs: ['demo'],
  async run({ caller, parts }) {
    requireMaster(caller)
    const played = await parts.demo.play()
    return { tenantId: demoTenants.main.id, tenant: demoTenants.main.name, played }
  },
})

const remove = defineCall({
  name: 'demo.remove',
  about: 'Removes the demo with all its hooks, events and sessions.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/demo' },
  params: noParams,
  result: schema.object({
    removed: schema.boolean('False if there was no demo.'),
    defaultTenantId: schema.text('The tenant of callers that name none.'),
  }),
  needs: ['demo', 'defaultTenant'],
  async run({ caller, parts }) {
    requireMaster(caller)
    return { removed: await parts.demo.remove(), defaultTenantId: parts.defaultTenant }
  },
})

/** The demo is a tenant, and only a master caller may create, see and delete tenants. */
function requireMaster({ master }: Caller): void {
  if (!master) throw serverError('auth.scope', 'the demo needs a token of the master scope')
}

export const demoMethods = [play, remove] as const
