import { isDeepStrictEqual } from 'node:util'
import { agentId } from '../../access/agent-id.ts'
import type { Caller } from '../../access/caller.ts'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { runsCommands } from '../../engine/core/values/edition.ts'
import { nearest } from '../../engine/core/values/nearest.ts'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { resolveCatalogueName } from '../../hook-files/read/read-hook-file.ts'
import type { HookParts } from '../../methods/method-parts.ts'
import { sealConfig, unmaskConfig } from '../../secrets/config-secrets.ts'
import type { HookRow } from '../hook-tables.ts'
import { type HookInput, withoutOwnedFields } from './hook-input.ts'

const DEFAULT_TIMEOUT_MS = 5_000
const MAX_TIMEOUT_MS = 10_000

/** A definition with all fields of a row that a caller can choose. */
export type CompleteHook = Omit<HookRow, 'version' | 'source' | 'created_by' | 'created_at' | 'updated_at'>

interface CompletionContext {
  readonly id: string
  readonly caller: Caller
  readonly parts: HookParts
  /** The row to change. Masked values in the input keep its values. */
  readonly stored?: HookRow
}

/** What a row has where a hook says nothing. */
export function defaultFields(event: keyof typeof catalogue) {
  return {
    ...{ scope: 'tenant', agent_ids: [], timeout_ms: DEFAULT_TIMEOUT_MS, priority: 0, enabled: true },
    ...{ on_timeout: catalogue[event].onFailure, config: {} },
  } as const
}

/** Checks a hook with the values it would send. Returns it with masks replaced by the stored values. */
export function completeHook(given: HookInput, context: CompletionContext): CompleteHook {
  const { id, caller, parts, stored } = context
  const { event: written, handler_type, scope } = given
  if (!written || !handler_type || !scope)
    throw serverError('gateway.request', 'handler_type, event, and scope are required')
  const event = resolveCatalogueName(written)
  const defaults = defaultFields(event as keyof typeof catalogue)
  const known = readScope(scope)
  const tenant_id = ownerOf(known, caller)
  requireHandler(handler_type, parts)
  const {
    agent_id,
    agent_ids = agent_id === undefined ? [] : [agent_id],
    locked,
    ...rest
  } = withoutOwnedFields(given)
  if (locked && !caller.master) throw serverError('auth.scope', 'locked hooks belong to the master scope')
  const hook = {
    ...rest,
    ...(locked ? { locked } : {}),
    id,
    tenant_id,
    event,
    handler_type,
    scope: known,
    // Only hooks with scope `agent` use the list of agents.
    agent_ids: known === 'agent' ? agent_ids.map((agent) => agentId(tenant_id, agent)) : [],
    timeout_ms: readTimeout(given.timeout_ms),
    on_timeout: given.on_timeout ?? defaults.on_timeout,
    priority: given.priority ?? defaults.priority,
    enabled: given.enabled ?? defaults.enabled,
    config: unmaskConfig(given.config ?? defaults.config, stored?.config),
  }
  assertLoadable(hook, parts)
  return hook
}

/** The hook with its secrets encrypted. Encrypted texts are longer, so a hook with secrets is checked again. */
export function sealHook(hook: CompleteHook, parts: HookParts): CompleteHook {
  const config = sealConfig(hook.config, hook.id, parts.secrets)
  if (isDeepStrictEqual(config, hook.config)) return hook
  const sealed = { ...hook, config }
  assertLoadable(sealed, parts)
  return sealed
}

function readScope(scope: string): HookRow['scope'] {
  if (scope === 'global' || scope === 'tenant' || scope === 'agent') return scope
  throw new HookError('config.field', `unknown scope ${JSON.stringify(scope.slice(0, 80))}`, {
    at: 'scope',
    hint: 'It is global, tenant or agent.',
  })
}

/** Global hooks belong to no tenant; all others belong to an existing one. */
function ownerOf(scope: HookRow['scope'], { master, tenant }: Caller): string {
  if (scope === 'global') {
    if (master) return MASTER_TENANT
    throw serverError('auth.scope', 'global hooks need the master scope')
  }
  if (tenant !== MASTER_TENANT) return tenant
  throw serverError(
    'gateway.request',
    `a hook of scope ${scope} needs a tenant, and the master scope is none`,
    {
      hint: 'Name the tenant, or make it global.',
    },
  )
}

function requireHandler(type: string, { edition, handlers }: HookParts): void {
  const at = 'handler_type'
  if (type === 'command' && !runsCommands(edition))
    throw handlerError('handler.not_in_edition', 'command-type hooks are only available on Lite edition', {
      at,
    })
  const types = handlers.map((handler) => handler.type)
  if (types.includes(type)) return
  const near = nearest(type, types)
  throw new HookError('config.unknown_handler', `no handler for handler_type ${type.slice(0, 80)}`, {
    at,
    hint: near === undefined ? `There are ${types.join(', ')}.` : `Did you mean ${near}?`,
  })
}

function readTimeout(ms = 0): number {
  if (ms === 0) return DEFAULT_TIMEOUT_MS
  if (ms > 0 && ms <= MAX_TIMEOUT_MS) return ms
  const problem = ms < 0 ? `is negative` : `exceeds max ${MAX_TIMEOUT_MS}`
  throw new HookError('config.range', `hook: timeout_ms ${ms} ${problem}`, { at: 'timeout_ms' })
}

/** Registers the hook in an empty engine, as a snapshot does. Throws if it could not be loaded. */
function assertLoadable(
  { tenant_id: _, ...definition }: CompleteHook,
  { handlers, host, shell }: HookParts,
): void {
  try {
    createHooks({ handlers, host, shell }).add(definition)
  } catch (error) {
    // The outer error names the hook by its id, which the caller has not seen yet.
    if (error instanceof HookError && error.cause instanceof HookError) throw error.cause
    throw error
  }
}
