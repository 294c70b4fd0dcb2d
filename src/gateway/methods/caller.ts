import { z } from 'zod'
import { roles } from '../../store/stores/tenant-store.ts'
import { isDemoTenant } from '../demo/demo-tenants.ts'
import { defineCall } from './method.ts'
import { noParams, readonlyList } from './method-fields.ts'

/** Lists no more tenants than this. */
const MAX_TENANTS = 1_000

const tenant = z.object({ id: z.string(), name: z.string(), demo: z.boolean() })

const get = defineCall({
  name: 'caller.get',
  about: 'Who the caller is, and what it may do.',
  role: 'agent',
  rest: { verb: 'GET', path: '/v1/caller' },
  params: noParams,
  result: z.object({
    name: z.string().describe('The name of its token.'),
    role: z.enum(roles),
    tenant: z.string(),
    tenant_name: z.string(),
    demo: z.boolean().describe('The tenant belongs to the demo.'),
    master: z.boolean().describe('It may act for every tenant.'),
    edition: z.enum(['lite', 'standard']),
    version: z.string(),
    tenants: readonlyList(tenant)
      .describe('For a master caller: the tenants it may act for.')
      .exactOptional(),
  }),
  needs: ['store', 'edition', 'version'],
  async run({ caller, parts: { store, edition, version } }) {
    const { name, role, tenant, master } = caller
    const [found, rows] = await Promise.all([
      store.findTenant(tenant),
      master ? store.listTenants({ limit: MAX_TENANTS }) : undefined,
    ])
    return {
      name,
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
