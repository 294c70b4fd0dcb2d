import { columns, type RowOf, table } from '../database/table.ts'
import type { SealedPath } from '../safe/secrets/secret.ts'

const { nullable, number, sealedByHand, sealedJson, tenantId, text } = columns

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
