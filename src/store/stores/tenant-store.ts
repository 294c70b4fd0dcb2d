/** The tenant that owns global hooks and the settings of the gateway. */
export const MASTER_TENANT = '0193a5b0-7000-7000-8000-000000000001'

export interface TenantRow {
  readonly id: string
  readonly name: string
  readonly created_at: number
}

/** From the fewest rights to the most. `agent` may only dispatch; `approver` answers requests for approval. */
export const roles = ['agent', 'viewer', 'approver', 'operator', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

export interface TokenRow {
  readonly id: string
  readonly tenant_id: string
  readonly name: string
  readonly role: Role
  /** An agent token may be bound to one agent. */
  readonly agent_id: string | null
  readonly created_at: number
  readonly expires_at: number | null
}

export interface TenantStore {
  createTenant(tenant: TenantRow): Promise<void>
  listTenants(page: { readonly after?: string; readonly limit: number }): Promise<readonly TenantRow[]>
  findTenant(idOrName: string): Promise<TenantRow | undefined>
  /** Deletes a tenant with everything it has. False if it does not exist. */
  deleteTenant(id: string): Promise<boolean>

  /** `hash` is the SHA-256 of the token; the token itself is never stored. */
  createToken(token: TokenRow & { readonly hash: Uint8Array }): Promise<void>
  /** Finds a token of any tenant by its hash. The caller checks whether it has expired. */
  findToken(hash: Uint8Array): Promise<TokenRow | undefined>
  listTokens(tenant: string): Promise<readonly TokenRow[]>
  deleteToken(tenant: string, id: string): Promise<boolean>
}
