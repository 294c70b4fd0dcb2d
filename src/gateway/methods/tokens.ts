import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { wholeNumber } from '../../config/schema/zod-schema.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { hashToken, newToken } from '../../safe/token.ts'
import { MASTER_TENANT, type Role, roles, type TokenRow } from '../../store/stores/tenant-store.ts'
import { type Caller, reaches } from '../auth/caller.ts'
import { agentId } from '../tenancy/agent-id.ts'
import { listOf, text } from './fields.ts'
import { method } from './method.ts'

const DAY_MS = 86_400_000

const role = z.enum(roles)
const token = z.object({
  id: z.string(),
  tenant_id: z.string(),
  name: z.string(),
  role,
  agent_id: z.string().nullable(),
  created_at: z.number(),
  expires_at: z.number().nullable(),
})
const masterField = {
  master: z.boolean().describe('Tokens of the master scope instead of those of the tenant.').exactOptional(),
}

const list = method({
  name: 'tokens.list',
  about: 'The tokens of the tenant, without the secrets themselves.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/tokens' },
  params: z.strictObject(masterField),
  result: z.object({ tokens: listOf(token) }),
  async run({ params, caller, parts }) {
    return { tokens: await parts.store.listTokens(ownerOf(params, caller)) }
  },
})

const create = method({
  name: 'tokens.create',
  about: 'Makes a token and answers it once; it is stored only as a hash.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/tokens' },
  params: z.strictObject({
    name: text,
    role: role.describe('agent may only dispatch.'),
    agentId: text.describe('Id or name: an agent token speaks for this agent only.').exactOptional(),
    days: wholeNumber(1, 3_650).describe('How long it is good; for ever if omitted.').exactOptional(),
    ...masterField,
  }),
  result: z.object({ tokenId: z.string(), token: z.string() }),
  async run({ params, caller, parts }) {
    const { name, role, agentId: agent, days } = params
    const tenant_id = ownerOf(params, caller)
    requireReach(caller, role)
    if (agent !== undefined && role !== 'agent')
      throw serverError('gateway.request', 'agentId is only for tokens with role agent')
    const id = randomUUID()
    const token = newToken()
    const now = parts.clock.now()
    await parts.store.createToken({
      id,
      tenant_id,
      name,
      role,
      agent_id: agent === undefined ? null : agentId(tenant_id, agent),
      created_at: now,
      expires_at: days === undefined ? null : now + days * DAY_MS,
      hash: hashToken(token),
    })
    return { tokenId: id, token }
  },
})

const remove = method({
  name: 'tokens.delete',
  about: 'Revokes a token.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/tokens/:tokenId' },
  params: z.strictObject({ tokenId: text, ...masterField }),
  result: z.object({ tokenId: z.string() }),
  async run({ params, caller, parts }) {
    const { tokenId } = params
    const tenant = ownerOf(params, caller)
    const tokens = await parts.store.listTokens(tenant)
    const row = tokens.find(({ id }) => id === tokenId)
    if (row === undefined) throw notFound(tokenId)
    requireReach(caller, row.role)
    refuseLastOwner(tenant, tokens, row)
    if (!(await parts.store.deleteToken(tenant, tokenId))) throw notFound(tokenId)
    parts.forgetTokens()
    return { tokenId }
  },
})

function ownerOf({ master = false }: { master?: boolean }, caller: Caller): string {
  if (!master) return caller.tenant
  if (caller.master) return MASTER_TENANT
  throw serverError('auth.scope', 'tokens of the master scope are managed from there')
}

/** Nobody makes or revokes more than they are. */
function requireReach({ role }: Caller, wanted: Role): void {
  if (!reaches(role, wanted))
    throw serverError('auth.scope', `a token with role ${wanted} needs an ${wanted}`)
}

/** Without an owner nobody could make another, and the next start would bring this very token back. */
function refuseLastOwner(tenant: string, tokens: readonly TokenRow[], row: TokenRow): void {
  if (tenant !== MASTER_TENANT || row.role !== 'owner') return
  const isAnother = ({ id, role, expires_at }: TokenRow) =>
    id !== row.id && role === 'owner' && expires_at === null
  if (!tokens.some(isAnother))
    throw serverError('gateway.conflict', 'the last owner cannot be revoked', {
      hint: 'Make another token with role owner in the master scope first.',
    })
}

function notFound(tokenId: string): Error {
  return serverError('gateway.not_found', `token not found: ${tokenId}`)
}

export const tokenMethods = [list, create, remove] as const
