import type { MethodsOf } from '../database/operation.ts'
import { columns, type RowOf, table } from '../database/table.ts'
import type { Failure } from '../engine/core/decision.ts'
import { hookScopes } from '../engine/core/hook.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import type { hookOperations } from './hook-operations.ts'

const { checked, flag, id, json, list, nullable, number, oneOf, optional, references, tenantId, text } =
  columns

/**
 * The origin of a hook. `builtin` hooks come with the product, `blueprint` hooks with the blueprint of an agent; of both,
 * only `enabled` can change.
 */
export const hookSources = ['builtin', 'user', 'blueprint'] as const
const failures = ['error', 'timeout', 'invalid'] as const satisfies readonly Failure[]

export const agentHooks = table(
  'agent_hooks',
  {
    id: id(),
    tenant_id: tenantId(),
    name: optional(text()),
    description: optional(text()),
    agent_ids: list(),
    event: text(),
    handler_type: text(),
    scope: checked(oneOf(hookScopes)),
    /** Its sealed texts are inside, at any depth. */
    config: json<unknown>(),
    matcher: optional(text()),
    if_expr: optional(text()),
    timeout_ms: optional(number()),
    on_timeout: optional(checked(oneOf(['block', 'allow']))),
    priority: number(),
    enabled: flag(),
    disabled_reason: optional(text()),
    /** The kind of failure that tripped it, whose policy keeps applying. */
    tripped_by: optional(oneOf(failures)),
    version: number(),
    source: checked(oneOf(hookSources)),
    /** Every field of a definition without its own column, so that a new field needs no new column. */
    options: json<Readonly<Record<string, unknown>>>(),
    created_by: nullable(text()),
    created_at: number(),
    updated_at: number(),
  },
  { key: ['id'], indexes: ['hooks_of_tenant (tenant_id, created_at, id)'], readByAll: true },
)

/** The channel on which PostgreSQL tells nodes about definitions. */
export const HINT_CHANNEL = 'hookhelm_definitions'

/** `stamp` orders changes by visibility, which on PostgreSQL differs from the order of writing. */
export const definitionVersions = table(
  'definition_versions',
  { tenant_id: id(), version: number(), stamp: number() },
  {
    key: ['tenant_id'],
    isKeyed: true,
    indexes: ['definition_changes (stamp)'],
    notice: {
      name: 'hint_definitions',
      channel: HINT_CHANNEL,
      payload: "new.tenant_id || ' ' || new.version",
      on: 'insert or update',
    },
    readByAll: true,
    writtenByMaster: true,
    // The version of a deleted tenant tells other nodes that it is gone.
    outlivesTenant: true,
  },
)

/** Global hooks that the breaker disabled for one tenant. */
export const hookTrips = table(
  'hook_trips',
  {
    tenant_id: tenantId(),
    hook_id: references(id(), 'agent_hooks (id) on delete cascade'),
    tripped_at: number(),
    tripped_by: oneOf(failures),
  },
  {
    key: ['tenant_id', 'hook_id'],
    isKeyed: true,
    indexes: ['trips_of_hook (hook_id)'],
    writtenByMaster: true,
  },
)

/** A stored hook: the complete definition, and what the store adds. */
export type HookRow = HookDefinition &
  Pick<RowOf<typeof agentHooks>, 'id' | 'tenant_id' | 'scope' | 'agent_ids' | 'config' | 'priority'> &
  Pick<RowOf<typeof agentHooks>, 'enabled' | 'version' | 'source' | 'created_by'> &
  Pick<RowOf<typeof agentHooks>, 'created_at' | 'updated_at'>

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

export type HookStore = MethodsOf<typeof hookOperations>
