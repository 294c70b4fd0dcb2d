import { schema } from '../../engine/core/schema/schema.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { defineCall } from '../../methods/method.ts'
import { noParams } from '../../methods/method-fields.ts'
import { isDemoTenant } from '../demo-tenants.ts'
import { roles } from '../tenant-tables.ts'

/** Lists no more tenants than this. */
const MAX_TENANTS = 1_000

const tenant = schema.object({ id: schema.text(), name: schema.text(), demo: schema.boolean() })

const get = defineCall({
  name: 'caller.get',
  about: 'Who the caller is, and what it may do.',
  role: 'agent',
  rest: { verb: 'GET', path: '/v1/caller' },
  params: noParams,
  result: schema.object({
    name: schema.text('The name of its token.'),
    member: schema.optional(schema.text('The id of the member that it belongs to.')),
    role: schema.choice(roles),
    tenant: schema.text(),
    tenant_name: schema.text(),
    demo: schema.boolean('The tenant belongs to the demo.'),
    master: schema.boolean('It may act for every tenant.'),
    edition: schema.choice(['lite', 'standard']),
    version: schema.text(),
    tenants: schema.optional(schema.list(tenant, 'For a master caller: the tenants it may act for.')),
  }),
  needs: ['store', 'edition', 'version'],
  async run({ caller, parts: { store, edition, version } }) {
    const { name, member, role, tenant, master } = caller
    const [found, rows] = await Promise.all([
      store.findTenant(tenant),
      master ? store.listTenants({ limit: MAX_TENANTS }) : undefined,
    ])
    return {
      name,
      ...definedFields({ member }),
      role,
      tenant,
      tenant_name: found?.name ?? tenant,
      demo: isDemoTenant(tenant),
      master,
      edition,
      version,
      ...(rows === undefined
        ? {}
        : { tenants: rows.map(({ id, name }) => ({ id, name, demo: isDemoTenant(id) })) }),
    }
  },
})

export const callerMethods = [get] as const
