import { randomUUID } from 'node:crypto'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { schema } from '../../engine/core/schema/schema.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { defineCall } from '../../methods/method.ts'
import { found, shortText } from '../../methods/method-fields.ts'
import { rowFields } from '../../methods/row-fields.ts'
import { findMember, memberOf } from '../find-member.ts'
import { memberKinds, members, OWNER_MEMBER } from '../tenant-tables.ts'
import { assertReaches, masterField, ownerOf } from './token-methods.ts'

const member = schema.object(
  rowFields(members, [], { identities: 'Links that were sent to these answer in its name.' }),
)

const list = defineCall({
  name: 'members.list',
  about: 'The people and machine accounts of the tenant.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/members' },
  params: schema.object(masterField),
  result: schema.object({ members: schema.list(member) }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    return { members: await parts.store.listMembers(ownerOf(params, caller)) }
  },
})

const create = defineCall({
  name: 'members.create',
  about: 'Creates a member. Tokens and links of one member count as one approver.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/members' },
  params: schema.object({
    name: shortText(),
    kind: schema.optional(schema.choice(memberKinds, 'person if omitted.')),
    identities: schema.optional(
      schema.list(
        shortText(),
        'E-mail addresses, and names of members of teams: links that are sent there answer in the name of this member.',
      ),
    ),
    ...masterField,
  }),
  result: schema.object({ member }),
  needs: ['store', 'clock'],
  async run({ params, caller, parts: { store, clock } }) {
    const { name, kind = 'person', identities } = params
    const tenant_id = ownerOf(params, caller)
    const others = await store.listMembers(tenant_id)
    const taken = [name, ...(identities ?? [])].find((identity) => memberOf(others, identity) !== undefined)
    if (taken !== undefined)
      throw serverError('gateway.conflict', `${taken} belongs to another member of the tenant`)
    const row = { id: randomUUID(), tenant_id, name, kind, created_at: clock.now() }
    return { member: await store.saveMember({ ...row, ...definedFields({ identities }) }) }
  },
})

const remove = defineCall({
  name: 'members.delete',
  about: 'Deletes a member. Its tokens, links, grants and connections end at once.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/members/:memberId' },
  params: schema.object({ memberId: shortText('Id or name.'), ...masterField }),
  result: schema.object({ memberId: schema.text() }),
  needs: ['store', 'forgetTokens'],
  async run({ params, caller, parts: { store, forgetTokens } }) {
    const tenant = ownerOf(params, caller)
    const row = found(findMember(await store.listMembers(tenant), params.memberId), 'member', params.memberId)
    if (row.id === OWNER_MEMBER)
      throw serverError('gateway.conflict', 'the member that owns the gateway cannot be deleted', {
        hint: 'Revoke its tokens instead.',
      })
    for (const { role, member_id } of await store.listTokens(tenant))
      if (member_id === row.id) assertReaches(caller, role)
    found(await store.deleteMember(row), 'member', params.memberId)
    forgetTokens()
    return { memberId: row.id }
  },
})

export const memberMethods = [list, create, remove] as const
