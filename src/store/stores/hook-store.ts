import type { Failure } from '../../engine/core/decision.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'

/**
 * The origin of a hook. `builtin` hooks come with the product, `blueprint` hooks with the blueprint of an agent; of both,
 * only `enabled` can change.
 */
export type HookSource = 'builtin' | 'user' | 'blueprint'

/** A stored hook: the complete definition, and what the store adds. */
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

/** The tenants whose definitions have a new version since a cursor. Never misses a late commit. */
export interface DefinitionChanges {
  /** Opaque; pass it to the next call. */
  readonly cursor: string
  readonly changed: readonly { readonly tenant: string; readonly version: number }[]
}

/** A hook that the breaker disabled, and the kind of failure. */
export interface HookTrip {
  readonly hookId: string
  readonly by: Failure
}

export interface HookStore {
  /** The tenant's hooks and the global ones, in the order of creation. */
  listHooks(tenant: string, filter?: HookFilter): Promise<readonly HookRow[]>
  /** A hook of the tenant or a global one. */
  findHook(tenant: string, id: string): Promise<HookRow | undefined>
  createHook(hook: NewHook, now: number): Promise<HookRow>
  /**
   * Replaces the definition of the tenant's hook and raises its version by one. Returns 'stale', and writes nothing, if the
   * stored version is not `version`; 'missing' if the tenant has no such hook.
   */
  updateHook(
    tenant: string,
    id: string,
    change: { readonly version: number; readonly hook: HookDefinition },
    now: number,
  ): Promise<HookRow | 'stale' | 'missing'>
  /** Enables or disables the tenant's hook and raises its version. Enabling also clears every trip of the breaker. */
  toggleHook(
    tenant: string,
    id: string,
    change: { readonly enabled: boolean; readonly reason?: string },
    now: number,
  ): Promise<HookRow | 'missing'>
  /** Deletes a hook. Its executions stay, with a null hook id. */
  deleteHook(tenant: string, id: string): Promise<boolean>
  /**
   * The breaker disables a hook after failures of the given kind. The tenant's hook becomes `enabled: false,
   * disabled_reason: 'breaker'`; a global one is disabled for this tenant only. False if it was disabled already or does
   * not exist.
   */
  tripHook(tenant: string, id: string, by: Failure, now: number): Promise<boolean>
  /** All definitions of a tenant and their version, for a snapshot. `tenant` may be the master tenant. */
  loadDefinitions(tenant: string): Promise<{
    readonly version: number
    readonly hooks: readonly HookRow[]
    /** Global hooks that the breaker disabled for this tenant. */
    readonly tripped: readonly HookTrip[]
  }>
  /** Without a cursor: only the current cursor. */
  definitionChanges(cursor?: string): Promise<DefinitionChanges>
  /** Disables every enabled hook of these types that is not builtin. Returns how many. The standard edition calls it at start. */
  disableHandlerTypes(types: readonly string[], reason: string, now: number): Promise<number>
}
