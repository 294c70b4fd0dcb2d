import { randomUUID } from 'node:crypto'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { nullable, numeric, withAbout } from '../../engine/core/schema/more-schemas.ts'
import { schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { found, shortText } from '../../methods/method-fields.ts'
import { hashToken, newToken } from '../../safe/secrets/token.ts'
import type { Store } from '../../store/store.ts'
import { agentId } from '../agent-id.ts'
import { type Caller, reaches } from '../caller.ts'
import { findMember, memberOf } from '../find-member.ts'
import { MASTER_TENANT, type Role, roles, type TokenRow } from '../tenant-tables.ts'

const DAY_MS = 86_400_000

const role = schema.choice(roles)
const token = schema.object({
  id: schema.text(),
  tenant_id: schema.text(),
  member_id: schema.text('The member that it belongs to.'),
  name: schema.text(),
  role,
  agent_id: nullable(schema.text()),
  created_at: numeric(),
  expires_at: nullable(numeric()),
})
export const masterField = {
  master: schema.optional(schema.boolean('Those of the master scope instead of the tenant.')),
}

const list = defineCall({
  name: 'tokens.list',
  about: 'The tokens of the tenant, without their values.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/tokens' },
  params: schema.object(masterField),
  result: schema.object({ tokens: schema.list(token) }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    return { tokens: await parts.store.listTokens(ownerOf(params, caller)) }
  },
})

const create = defineCall({
  name: 'tokens.create',
  about: 'Creates a token and returns it once; only its hash is stored.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/tokens' },
  params: schema.object({
    name: shortText(),
    member: schema.optional(
      shortText(
        'Id or name of the member that owns it. If omitted, the member of its name, who is created if need be.',
      ),
    ),
    role: withAbout(role, 'A token with the role agent can only dispatch events.'),
    agentId: schema.optional(shortText('Id or name: binds an agent token to this agent.')),
    days: schema.optional(schema.integer(1, 3_650, 'Days until the token expires; never if omitted.')),
    ...masterField,
  }),
  result: schema.object({ tokenId: schema.text(), token: schema.text() }),
  needs: ['store', 'clock'],
  async run({ params, caller, parts }) {
    const { name, role, member, agentId: agent, days } = params
    const tenant_id = ownerOf(params, caller)
    assertReaches(caller, role)
    if (agent !== undefined && role !== 'agent')
      throw serverError('gateway.request', 'agentId is only for tokens with role agent')
    const id = randomUUID()
    const token = newToken()
    const now = parts.clock.now()
    await parts.store.createToken({
      id,
      tenant_id,
      member_id: await memberFor({ tenant_id, name, role, member }, now, parts.store),
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

const remove = defineCall({
  name: 'tokens.delete',
  about: 'Revokes a token.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/tokens/:tokenId' },
  params: schema.object({ tokenId: shortText('Id or name.'), ...masterField }),
  result: schema.object({ tokenId: schema.text() }),
  needs: ['store', 'forgetTokens'],
  async run({ params, caller, parts }) {
    const { tokenId } = params
    const tenant = ownerOf(params, caller)
    const tokens = await parts.store.listTokens(tenant)
    const row = findToken(tokens, tokenId)
    assertReaches(caller, row.role)
    assertNotLastOwner(tenant, tokens, row)
    if (!(await parts.store.deleteToken(tenant, row.id))) throw notFound(tokenId)
    parts.forgetTokens()
    return { tokenId: row.id }
  },
})

interface TokenOwner {
  readonly tenant_id: string
  readonly name: string
  readonly role: Role
  readonly member: string | undefined
}

/** The id of the member that a new token belongs to. */
async function memberFor(
  { tenant_id, name, role, member }: TokenOwner,
  created_at: number,
  store: Pick<Store, 'listMembers' | 'saveMember'>,
): Promise<string> {
  const members = await store.listMembers(tenant_id)
  if (member !== undefined) return found(findMember(members, member), 'member', member).id
  const known = memberOf(members, name)
  if (known !== undefined) return known.id
  const kind = role === 'agent' ? 'machine' : 'person'
  return (await store.saveMember({ id: randomUUID(), tenant_id, name, kind, created_at })).id
}

/** The token with this id, or the only one with this name. */
function findToken(tokens: readonly TokenRow[], idOrName: string): TokenRow {
  const byId = tokens.find(({ id }) => id === idOrName)
  const [named, ...others] = byId === undefined ? tokens.filter(({ name }) => name === idOrName) : [byId]
  if (named === undefined) throw notFound(idOrName)
  if (others.length > 0)
    throw serverError('gateway.request', `${others.length + 1} tokens are named ${idOrName}`, {
      hint: `Use an id: ${[named, ...others].map(({ id, role }) => `${id} (${role})`).join(', ')}.`,
    })
  return named
}

export function ownerOf({ master = false }: { master?: boolean }, caller: Caller): string {
  if (!master) return caller.tenant
  if (caller.master) return MASTER_TENANT
  throw serverError('auth.scope', 'managing what is of the master scope needs such a token')
}

/** A caller can create or revoke only tokens up to its own role. */
export function assertReaches({ role }: Caller, wanted: Role): void {
  if (!reaches(role, wanted))
    throw serverError(
      'auth.scope',
      `creating or revoking a token with role ${wanted} needs the role ${wanted}`,
    )
}

/** Without an owner token no other could be created, and the next start would restore this one from its file. */
function assertNotLastOwner(tenant: string, tokens: readonly TokenRow[], row: TokenRow): void {
  if (tenant !== MASTER_TENANT || row.role !== 'owner') return
  const isAnother = ({ id, role, expires_at }: TokenRow) =>
    id !== row.id && role === 'owner' && expires_at === null
  if (!tokens.some(isAnother))
    throw serverError('gateway.conflict', 'the last owner token cannot be revoked', {
      hint: 'Create another token with role owner in the master scope first.',
    })
}

function notFound(tokenId: string): Error {
  return serverError('gateway.not_found', `token not found: ${tokenId}`)
}

export const tokenMethods = [list, create, remove] as const
