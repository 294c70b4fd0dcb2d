import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { serverError } from '../../engine/core/server-errors.ts'
import { MASTER_TENANT, type TenantRow } from '../../store/stores/tenant-store.ts'
import type { Caller } from '../auth/caller.ts'
import type { GatewayParts } from '../parts.ts'
import { listOf, text } from './fields.ts'
import { method } from './method.ts'

const tenant = z.object({ id: z.string(), name: z.string(), created_at: z.number() })
/** Of any version, as the store takes them. */
const looksLikeId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const one = z.strictObject({ tenantId: text.describe('Id or name.') })

const list = method({
  name: 'tenants.list',
  about: 'Every tenant.',
  role: 'owner',
  rest: { verb: 'GET', path: '/v1/tenants' },
  params: z.strictObject({
    after: text.describe('Id of the last one of the page before.').exactOptional(),
    limit: z.int().min(1).max(200).exactOptional(),
  }),
  result: z.object({ tenants: listOf(tenant) }),
  async run({ params, caller, parts }) {
    requireMaster(caller)
    const rows = await parts.store.listTenants({ limit: 200, ...params })
    return { tenants: rows.filter(isReal) }
  },
})

const get = method({
  name: 'tenants.get',
  about: 'One tenant.',
  role: 'owner',
  rest: { verb: 'GET', path: '/v1/tenants/:tenantId' },
  params: one,
  result: z.object({ tenant }),
  async run({ params, caller, parts }) {
    requireMaster(caller)
    return { tenant: await findTenant(params.tenantId, parts) }
  },
})

const create = method({
  name: 'tenants.create',
  about: 'Makes a tenant; several need the standard edition.',
  role: 'owner',
  rest: { verb: 'POST', path: '/v1/tenants' },
  params: z.strictObject({ name: text }),
  result: z.object({ tenantId: z.string() }),
  async run({ params, caller, parts }) {
    requireMaster(caller)
    refuseId(params.name)
    await requireRoom(parts)
    const id = randomUUID()
    await parts.store.createTenant({ id, name: params.name, created_at: parts.clock.now() })
    return { tenantId: id }
  },
})

const remove = method({
  name: 'tenants.delete',
  about: 'Deletes a tenant with everything it has.',
  role: 'owner',
  rest: { verb: 'DELETE', path: '/v1/tenants/:tenantId' },
  params: one,
  result: z.object({ tenantId: z.string() }),
  async run({ params, caller, parts }) {
    requireMaster(caller)
    const { id } = await findTenant(params.tenantId, parts)
    if (id === parts.defaultTenant)
      throw serverError('gateway.request', 'the default tenant cannot be deleted', {
        hint: 'Delete what it holds instead.',
      })
    if (!(await parts.store.deleteTenant(id))) throw notFound(params.tenantId)
    parts.forgetTokens()
    await parts.changed(id)
    return { tenantId: id }
  },
})

function requireMaster({ master }: Caller): void {
  if (!master) throw serverError('auth.scope', 'tenants are managed from the master scope')
}

/** Tenants go by id or name: one named like the id of another, or of the master scope, would be taken for it. */
function refuseId(name: string): void {
  if (looksLikeId.test(name.trim()))
    throw serverError('gateway.request', 'name: a tenant cannot be named like an id', {
      hint: 'Choose a name that is no UUID.',
    })
}

async function requireRoom({ edition, store }: GatewayParts): Promise<void> {
  if (edition === 'standard') return
  // The master tenant may be among them.
  const rows = await store.listTenants({ limit: 2 })
  if (rows.some(isReal)) throw serverError('gateway.edition', 'a second tenant needs the standard edition')
}

async function findTenant(idOrName: string, { store }: GatewayParts): Promise<TenantRow> {
  const row = await store.findTenant(idOrName)
  if (row === undefined || !isReal(row)) throw notFound(idOrName)
  return row
}

function isReal({ id }: TenantRow): boolean {
  return id !== MASTER_TENANT
}

function notFound(idOrName: string): Error {
  return serverError('gateway.not_found', `tenant not found: ${idOrName}`)
}

export const tenantMethods = [list, get, create, remove] as const
