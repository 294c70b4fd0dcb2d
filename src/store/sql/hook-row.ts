import type { Selectable } from 'kysely'
import type { Failure } from '../../engine/core/decision.ts'
import { hookScopes } from '../../engine/core/hook.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import type { HookRow, NewHook } from '../stores/hook-store.ts'
import { readUnion } from './column-values.ts'
import type { Codec } from './sql-database.ts'
import type { Tables } from './tables.ts'

type StoredHook = Selectable<Tables['agent_hooks']>
/** A definition with every field that a row requires. */
type CompleteDefinition = HookDefinition &
  Pick<HookRow, 'scope' | 'agent_ids' | 'config' | 'priority' | 'enabled'>

/** Fields with their own column. `options` holds every other field, so a new field needs no migration. */
const columns = new Set([
  ...['id', 'tenant_id', 'name', 'description', 'agent_ids', 'event', 'handler_type', 'scope', 'config'],
  ...['matcher', 'if_expr', 'timeout_ms', 'on_timeout', 'priority', 'enabled', 'disabled_reason'],
  ...['tripped_by', 'version', 'source', 'created_by', 'created_at', 'updated_at'],
])

const policies = ['block', 'allow'] as const
const sources = ['builtin', 'user', 'blueprint'] as const
const failures = ['error', 'timeout', 'invalid'] as const

/** The columns of a definition. */
export function writeDefinition(codec: Codec, hook: CompleteDefinition) {
  const options = Object.entries(hook).filter(([field, value]) => !columns.has(field) && value !== undefined)
  return {
    name: hook.name ?? null,
    description: hook.description ?? null,
    agent_ids: codec.list(hook.agent_ids),
    event: hook.event,
    handler_type: hook.handler_type,
    scope: hook.scope,
    config: codec.json(hook.config ?? null),
    matcher: hook.matcher ?? null,
    if_expr: hook.if_expr ?? null,
    timeout_ms: hook.timeout_ms ?? null,
    on_timeout: hook.on_timeout ?? null,
    priority: hook.priority,
    enabled: codec.flag(hook.enabled),
    disabled_reason: hook.disabled_reason ?? null,
    tripped_by: hook.tripped_by ?? null,
    options: codec.json(Object.fromEntries(options)),
  }
}

/** Fills the required fields that the new definition leaves out from the row before. */
export function completeDefinition(hook: HookDefinition, before: HookRow): CompleteDefinition {
  return {
    ...hook,
    scope: hook.scope ?? before.scope,
    agent_ids: hook.agent_ids ?? before.agent_ids,
    config: hook.config === undefined ? before.config : hook.config,
    priority: hook.priority ?? before.priority,
    enabled: hook.enabled ?? before.enabled,
  }
}

export function writeHook(codec: Codec, hook: NewHook, now: number) {
  return {
    ...writeDefinition(codec, hook),
    id: hook.id,
    tenant_id: hook.tenant_id,
    version: 1,
    source: hook.source,
    created_by: hook.created_by,
    created_at: now,
    updated_at: now,
  }
}

/** The kind of failure in a column; `error` for a trip from before there were kinds. */
export function readFailure(column: string | null): Failure {
  return column === null ? 'error' : readUnion(failures, column)
}

export function readHook(codec: Codec, row: StoredHook): HookRow {
  const options = codec.readJson(row.options)
  return {
    ...(typeof options === 'object' ? options : {}),
    id: row.id,
    tenant_id: row.tenant_id,
    ...(row.name === null ? {} : { name: row.name }),
    ...(row.description === null ? {} : { description: row.description }),
    agent_ids: codec.readList(row.agent_ids),
    event: row.event,
    handler_type: row.handler_type,
    scope: readUnion(hookScopes, row.scope),
    config: codec.readJson(row.config),
    ...(row.matcher === null ? {} : { matcher: row.matcher }),
    ...(row.if_expr === null ? {} : { if_expr: row.if_expr }),
    ...(row.timeout_ms === null ? {} : { timeout_ms: row.timeout_ms }),
    ...(row.on_timeout === null ? {} : { on_timeout: readUnion(policies, row.on_timeout) }),
    priority: row.priority,
    enabled: Boolean(row.enabled),
    ...(row.disabled_reason === null ? {} : { disabled_reason: row.disabled_reason }),
    ...(row.tripped_by === null ? {} : { tripped_by: readFailure(row.tripped_by) }),
    version: row.version,
    source: readUnion(sources, row.source),
    created_by: row.created_by,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
