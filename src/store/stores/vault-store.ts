/** Named texts of a tenant that hooks refer to; values are sealed outside, the store keeps what it gets. */
export interface SecretRow {
  readonly tenant_id: string
  readonly name: string
  readonly sealed: string
  readonly updated_at: number
}

/** How a tenant reaches a provider of models. */
export interface ProviderRow {
  readonly tenant_id: string
  readonly name: string
  readonly base_url: string | null
  readonly default_model: string | null
  readonly sealed_key: string | null
  readonly updated_at: number
}

/** A sealed text and where it stands, for a change of keys. */
export interface SealedCell {
  readonly table: string
  readonly row: string
  readonly column: string
  readonly sealed: string
}

export interface VaultStore {
  putSecret(secret: SecretRow): Promise<void>
  listSecrets(tenant: string): Promise<readonly SecretRow[]>
  deleteSecret(tenant: string, name: string): Promise<boolean>

  /** In the place of the row that was read, or of none; false where somebody else has put another one meanwhile. */
  putProvider(provider: ProviderRow, before?: ProviderRow): Promise<boolean>
  listProviders(tenant: string): Promise<readonly ProviderRow[]>
  deleteProvider(tenant: string, name: string): Promise<boolean>

  /** Settings of one tenant; those of the whole gateway belong to the master tenant. */
  readSettings(tenant: string): Promise<Readonly<Record<string, unknown>>>
  /** Lays the changes over what is stored, all at once; null takes a setting away. */
  writeSettings(tenant: string, changes: Readonly<Record<string, unknown>>, now: number): Promise<void>

  /** How often each key has encrypted; adds to what is stored. */
  addKeyUses(uses: Readonly<Record<string, number>>): Promise<Readonly<Record<string, number>>>
  /** Whether anything in the database is sealed at all. */
  holdsSealed(): Promise<boolean>
  /**
   * Sealed texts not under this key, a page at a time. `after` is the last cell of the page before: it passes over cells
   * that no key opens. A run from the beginning that finds nothing means that the change of keys is complete.
   */
  sealedUnderOtherKeys(keyId: string, limit: number, after?: SealedCell): Promise<readonly SealedCell[]>
  /** Puts a text in the place of the one that was read; a cell that changed meanwhile stays as it is. */
  resealCells(cells: readonly { readonly cell: SealedCell; readonly sealed: string }[]): Promise<number>
}
