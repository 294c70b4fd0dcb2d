import type { MethodsOf } from '../database/operation.ts'
import { columns, type RowOf, table } from '../database/table.ts'
import type { tenantOperations } from '../store/tenant-operations.ts'

const { bytes, id, internal, list, nullable, number, oneOf, optional, references, tenantId, text } = columns

/** The tenant that owns global hooks and the settings of the gateway. */
export const MASTER_TENANT = '0193a5b0-7000-7000-8000-000000000001'

export const tenants = table(
  'tenants',
  { id: id(), name: text(), created_at: number() },
  { key: ['id'], unique: [['name']] },
)
export type TenantRow = RowOf<typeof tenants>

/** From the fewest rights to the most. `agent` may only dispatch; `approver` answers requests for approval. */
export const roles = ['agent', 'viewer', 'approver', 'operator', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

/** The person who started the gateway: a member of the master tenant. Its token and its login links are hers. */
export const OWNER_MEMBER = '0193a5b0-7000-7000-8000-000000000002'

export const memberKinds = ['person', 'machine'] as const

/** A person or a machine account. Whatever it acts with, tokens, logins or links, it counts as one. */
export const members = table(
  'members',
  {
    id: id(),
    tenant_id: tenantId(),
    name: text(),
    kind: oneOf(memberKinds),
    /** E-mail addresses and names of team members: a link that was sent there answers in the name of this member. */
    identities: optional(list()),
    created_at: number(),
  },
  { key: ['id'], unique: [['tenant_id', 'name']] },
)
export type MemberRow = RowOf<typeof members>

export const tokens = table(
  'tokens',
  {
    id: id(),
    tenant_id: tenantId(),
    member_id: references(id(), 'members (id) on delete cascade'),
    name: text(),
    role: oneOf(roles),
    /** An agent token may be bound to one agent. */
    agent_id: nullable(text()),
    /** The SHA-256 of the token; the token itself is never stored. */
    hash: internal(bytes()),
    created_at: number(),
    expires_at: nullable(number()),
  },
  {
    key: ['id'],
    unique: [['hash']],
    indexes: ['tokens_of_tenant (tenant_id, created_at)', 'tokens_of_member (member_id)'],
  },
)
export type TokenRow = RowOf<typeof tokens>

export type TenantStore = MethodsOf<typeof tenantOperations>
