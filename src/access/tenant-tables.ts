import type { MethodsOf } from '../database/operation.ts'
import { columns, type RowOf, table } from '../database/table.ts'
import type { tenantOperations } from '../store/tenant-operations.ts'

const { bytes, id, internal, nullable, number, oneOf, tenantId, text } = columns

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

export const tokens = table(
  'tokens',
  {
    id: id(),
    tenant_id: tenantId(),
    name: text(),
    role: oneOf(roles),
    /** An agent token may be bound to one agent. */
    agent_id: nullable(text()),
    /** The SHA-256 of the token; the token itself is never stored. */
    hash: internal(bytes()),
    created_at: number(),
    expires_at: nullable(number()),
  },
  { key: ['id'], unique: [['hash']], indexes: ['tokens_of_tenant (tenant_id, created_at)'] },
)
export type TokenRow = RowOf<typeof tokens>

export type TenantStore = MethodsOf<typeof tenantOperations>
