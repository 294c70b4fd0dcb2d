import type { HookDefinition } from '../../engine/hook-definition.ts'

/** Who made a hook: `builtin` rows come with the product and accept only `enabled`. */
export type HookSource = 'builtin' | 'user'

/** A hook as it is stored: the definition, completed, and what only the store knows. */
export interface HookRow extends HookDefinition {
  readonly id: string
  readonly tenant_id: string
  readonly scope: 'global' | 'tenant' | 'agent'
  readonly agent_ids: readonly string[]
  readonly config: unknown
  readonly priority: number
  readonly enabled: boolean
  readonly version: number
  readonly source: HookSource
  readonly created_by: string | null
  readonly created_at: number
  readonly updated_at: number
}

export type NewHook = Omit<HookRow, 'version' | 'created_at' | 'updated_at'>

export interface HookFilter {
  readonly event?: string
  readonly scope?: 'global' | 'tenant' | 'agent'
  readonly agent_id?: string
  readonly enabled?: boolean
}

/** What changed since a cursor: tenants whose definitions have a new version. Never misses a late commit. */
export interface DefinitionChanges {
  /** Opaque; give it back with the next question. */
  readonly cursor: string
  readonly changed: readonly { readonly tenant: string; readonly version: number }[]
}

export interface HookStore {
  /** Own rows and global ones, in the order of creation. */
  listHooks(tenant: string, filter?: HookFilter): Promise<readonly HookRow[]>
  /** An own row or a global one. */
  findHook(tenant: string, id: string): Promise<HookRow | undefined>
  createHook(hook: NewHook, now: number): Promise<HookRow>
  /**
   * Replaces the definition of an own row and raises its version by one. `version` is the one the caller has read: when
   * it is no longer that, nothing is written and the answer is 'stale'. 'missing' when the tenant has no such row.
   */
  updateHook(
    tenant: string,
    id: string,
    change: { readonly version: number; readonly hook: HookDefinition },
    now: number,
  ): Promise<HookRow | 'stale' | 'missing'>
  /** Switches an own row; on also clears every trip of the breaker. Raises the version. */
  toggleHook(
    tenant: string,
    id: string,
    change: { readonly enabled: boolean; readonly reason?: string },
    now: number,
  ): Promise<HookRow | 'missing'>
  /** Its executions stay, with a null hook id. */
  deleteHook(tenant: string, id: string): Promise<boolean>
  /**
   * The breaker switches a hook off. An own row becomes `enabled: false, disabled_reason: 'breaker'`; a global one is
   * tripped for this tenant only, so that nobody switches it off for others. False when it was off or is gone.
   */
  tripHook(tenant: string, id: string, now: number): Promise<boolean>
  /** Everything a snapshot of one tenant is made of, with the version it has. `tenant` may be the master tenant. */
  loadDefinitions(tenant: string): Promise<{
    readonly version: number
    readonly hooks: readonly HookRow[]
    /** Ids of global hooks whose breaker this tenant tripped. */
    readonly tripped: readonly string[]
  }>
  /** Without a cursor: only the cursor of now. */
  definitionChanges(cursor?: string): Promise<DefinitionChanges>
  /** Standard edition at start: every enabled hook of these types that is not builtin is switched off. Counts them. */
  disableHandlerTypes(types: readonly string[], reason: string, now: number): Promise<number>
}
