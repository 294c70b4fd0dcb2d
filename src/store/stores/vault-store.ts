import type { SealedPath } from '../../safe/secret.ts'
import { json, nullable, number, type RowOf, sealedByHand, table, tenantId, text } from '../database/table.ts'

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

/** The settings of a tenant. The master tenant has those of the gateway. */
export const settings = table(
  'settings',
  { tenant_id: tenantId(), value: json<Readonly<Record<string, unknown>>>(), updated_at: number() },
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

export interface VaultStore {
  putSecret(secret: SecretRow): Promise<void>
  listSecrets(tenant: string): Promise<readonly SecretRow[]>
  deleteSecret(tenant: string, name: string): Promise<boolean>

  /** Inserts a provider, or replaces `before`. False if another writer has changed it meanwhile. */
  putProvider(provider: ProviderRow, before?: ProviderRow): Promise<boolean>
  listProviders(tenant: string): Promise<readonly ProviderRow[]>
  deleteProvider(tenant: string, name: string): Promise<boolean>

  /** The settings of a tenant. The master tenant has those of the gateway. */
  readSettings(tenant: string): Promise<Readonly<Record<string, unknown>>>
  /** Merges changes into the stored settings, atomically. Null removes a setting. */
  writeSettings(tenant: string, changes: Readonly<Record<string, unknown>>, now: number): Promise<void>

  /** Adds to the stored counts of how often each key has encrypted. Returns the totals. */
  addKeyUses(uses: Readonly<Record<string, number>>): Promise<Readonly<Record<string, number>>>
  /** Whether the database holds any sealed text. */
  holdsSealed(): Promise<boolean>
  /**
   * Returns a page of sealed texts that are not under this key. `after` is the last cell of the previous page, so that cells
   * that no key opens are passed. If a run from the start finds nothing, the change of keys is complete.
   */
  sealedUnderOtherKeys(keyId: string, limit: number, after?: SealedCell): Promise<readonly SealedCell[]>
  /** Replaces sealed texts. A cell that changed since it was read stays as it is. Returns how many were replaced. */
  resealCells(cells: readonly { readonly cell: SealedCell; readonly sealed: string }[]): Promise<number>
}
