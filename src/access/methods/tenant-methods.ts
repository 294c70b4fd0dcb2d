import { randomUUID } from 'node:crypto'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { numeric } from '../../engine/core/schema/more-schemas.ts'
import { schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { shortText } from '../../methods/method-fields.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import type { Caller } from '../caller.ts'
import { isDemoTenant } from '../demo-tenants.ts'
import { MASTER_TENANT, type TenantRow } from '../tenant-tables.ts'

const tenant = schema.object({ id: schema.text(), name: schema.text(), created_at: numeric() })
/** A UUID of any version. */
const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const one = schema.object({ tenantId: shortText('Id or name.') })

const list = defineCall({
  name: 'tenants.list',
  about: 'Every tenant.',
  role: 'owner',
  rest: { verb: 'GET', path: '/v1/tenants' },
  params: schema.object(
    schema.partial({
      after: shortText('Id of the last tenant of the previous page.'),
      limit: schema.integer(1, 200),
    }),
  ),
  result: schema.object({ tenants: schema.list(tenant) }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    requireMaster(caller)
    const rows = await parts.store.listTenants({ limit: 200, ...params })
    return { tenants: rows.filter(isNotMaster) }
  },
})

const get = defineCall({
  name: 'tenants.get',
  about: 'One tenant.',
  role: 'owner',
  rest: { verb: 'GET', path: '/v1/tenants/:tenantId' },
  params: one,
  result: schema.object({ tenant }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    requireMaster(caller)
    return { tenant: await findTenant(params.tenantId, parts) }
  },
})

const create = defineCall({
  name: 'tenants.create',
  about: 'Creates a tenant; more than one needs the standard edition.',
  role: 'owner',
  rest: { verb: 'POST', path: '/v1/tenants' },
  params: schema.object({ name: shortText() }),
  result: schema.object({ tenantId: schema.text() }),
  needs: ['store', 'edition', 'clock'],
  async run({ params, caller, parts }) {
    requireMaster(caller)
    assertNotUuid(params.name)
    await assertEditionAllows(parts)
    const id = randomUUID()
    await parts.store.createTenant({ id, name: params.name, created_at: parts.clock.now() })
    return { tenantId: id }
  },
})

const remove = defineCall({
  name: 'tenants.delete',
  about: 'Deletes a tenant and all its data.',
  role: 'owner',
  rest: { verb: 'DELETE', path: '/v1/tenants/:tenantId' },
  params: one,
  result: schema.object({ tenantId: schema.text() }),
  needs: ['store', 'defaultTenant', 'forgetTokens', 'changed'],
  async run({ params, caller, parts }) {
    requireMaster(caller)
    const { id } = await findTenant(params.tenantId, parts)
    if (id === parts.defaultTenant)
      throw serverError('gateway.request', 'the default tenant cannot be deleted', {
        hint: 'Delete its hooks, tokens and secrets instead.',
      })
    if (!(await parts.store.deleteTenant(id))) throw notFound(params.tenantId)
    parts.forgetTokens()
    await parts.changed(id)
    return { tenantId: id }
  },
})

function requireMaster({ master }: Caller): void {
  if (!master) throw serverError('auth.scope', 'managing tenants needs a token of the master scope')
}

/** Tenants are found by id or name, so a name in the form of an id could be mistaken for another tenant. */
function assertNotUuid(name: string): void {
  if (uuidPattern.test(name.trim()))
    throw serverError('gateway.request', 'name: a tenant name cannot be a UUID', {
      hint: 'Choose another name.',
    })
}

async function assertEditionAllows({
  edition,
  store,
}: Pick<MethodParts, 'edition' | 'store'>): Promise<void> {
  if (edition === 'standard') return
  // Neither the tenants of the demo nor the master tenant count.
  const rows = await store.listTenants({ limit: 4 })
  if (rows.some((row) => isNotMaster(row) && !isDemoTenant(row.id)))
    throw serverError('gateway.edition', 'a second tenant needs the standard edition')
}

async function findTenant(idOrName: string, { store }: Pick<MethodParts, 'store'>): Promise<TenantRow> {
  const row = await store.findTenant(idOrName)
  if (row === undefined || !isNotMaster(row)) throw notFound(idOrName)
  return row
}

function isNotMaster({ id }: TenantRow): boolean {
  return id !== MASTER_TENANT
}

function notFound(idOrName: string): Error {
  return serverError('gateway.not_found', `tenant not found: ${idOrName}`)
}

export const tenantMethods = [list, get, create, remove] as const
