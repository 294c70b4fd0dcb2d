import { columns, type RowOf, table } from '../database/table.ts'
import type { SealedPath } from '../safe/secrets/secret.ts'

const { id, internal, json, nullable, number, sealedByHand, sealedJson, tenantId, text } = columns

/** A named secret of a tenant, which hooks refer to. The caller seals the value. */
export const secrets = table(
  'secrets',
  { tenant_id: tenantId(), name: text(), sealed: sealedByHand(), updated_at: number() },
  { key: ['tenant_id', 'name'] },
)
export type SecretRow = RowOf<typeof secrets>

/** A tenant's access to a model provider. */
export const providers = table(
  'providers',
  {
    tenant_id: tenantId(),
    name: text(),
    base_url: nullable(text()),
    default_model: nullable(text()),
    sealed_key: nullable(sealedByHand()),
    updated_at: number(),
  },
  { key: ['tenant_id', 'name'] },
)
export type ProviderRow = RowOf<typeof providers>

/** The settings of a tenant, which may hold passwords and addresses. The master tenant has those of the gateway. */
export const settings = table(
  'settings',
  { tenant_id: tenantId(), value: sealedJson(), updated_at: number() },
  { key: ['tenant_id'] },
)

/** The tokens that prompt hooks of a tenant may use in a month, and what is left of them. */
export const budgets = table(
  'tenant_hook_budget',
  {
    tenant_id: id(),
    /** The start of the month in UTC, in milliseconds. */
    month_start: number(),
    budget_total: number(),
    remaining: number(),
    last_warned_at: nullable(number()),
    metadata: internal(json<Readonly<Record<string, unknown>>>()),
    updated_at: internal(number()),
  },
  { key: ['tenant_id'] },
)
export type BudgetRow = RowOf<typeof budgets>

/** How often each key has encrypted. */
export const keyUses = table(
  'key_uses',
  { key_id: text(), uses: number() },
  { key: ['key_id'], isKeyed: true },
)

/** A sealed text and its path, for a change of keys. */
export interface SealedCell extends SealedPath {
  readonly sealed: string
}
