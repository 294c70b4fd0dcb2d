import { v5 } from 'uuid'
import { HookError } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { variablesIn } from '../../handlers/http/webhook-message.ts'
import { shownUrl } from '../../safe/outbound/rules/url.ts'
import { secretName } from '../../safe/secrets/secret.ts'
import type { HookRow, HookStore } from '../../stored-hooks/hook-tables.ts'
import {
  assertPointAllows,
  type Blueprint,
  type RunHook,
  type RunHookReference,
  readRunHook,
} from '../blueprints/blueprint.ts'
import type { BlueprintHook, RunStore } from '../stored/run-tables.ts'
import { decidingPoints, type RunHookPoint, runHookPointNames, runHookPoints } from './run-hook-points.ts'

const DEFAULT_SECONDS = 300
/** The first hook of a point has this priority, and each of its successors one less. */
const FIRST_PRIORITY = 1_000

/** The named hooks of a tenant. */
export type NamedRunHooks = ReadonlyMap<string, RunHook>

export async function loadNamedRunHooks(
  store: Pick<RunStore, 'listRunHooks'>,
  tenant: string,
): Promise<NamedRunHooks> {
  const rows = await store.listRunHooks(tenant)
  return new Map(rows.map(({ name, definition }) => [name, readRunHook(definition, name)]))
}

/** The names that a blueprint refers to. */
export function referencesOf({ hooks }: Blueprint): readonly string[] {
  return Object.values(hooks)
    .flat()
    .flatMap((entry) => (isReference(entry) ? [entry.$ref] : []))
}

/** The agents that the hooks of a blueprint start. */
export function hookAgentsOf(blueprint: Blueprint, named: NamedRunHooks): readonly string[] {
  return usedRunHooks(blueprint, named).flatMap(({ hook }) =>
    hook.type === 'agent' ? [hook.agent_name] : [],
  )
}

/** The hooks of a blueprint, named ones included, with their paths. */
export function usedRunHooks(
  { hooks }: Blueprint,
  named: NamedRunHooks,
): readonly { readonly hook: RunHook; readonly at: string }[] {
  return runHookPointNames.flatMap((point) =>
    (hooks[point] ?? []).flatMap((entry, index) => {
      const hook = isReference(entry) ? named.get(entry.$ref) : entry
      return hook === undefined ? [] : [{ hook, at: `hooks.${point}.${index}` }]
    }),
  )
}

/**
 * The hooks of a blueprint of a tenant as ordinary hooks, so that the dispatcher orders, guards, records and explains them. The id of
 * a hook follows from its position: saving a blueprint again keeps its history, and its switch.
 */
export function toStoredHooks(
  blueprint: Blueprint,
  named: NamedRunHooks,
  owner: { readonly tenant: string; readonly savedBy: string },
): readonly BlueprintHook[] {
  return runHookPointNames.flatMap((point) =>
    (blueprint.hooks[point] ?? []).map((entry, index) => {
      const at = `hooks.${point}`
      const hook = isReference(entry) ? requireNamed(entry, named, at) : entry
      assertPointAllows(hook, point, at)
      const id = v5(`blueprint/${blueprint.name}/${point}/${index}`, owner.tenant)
      return { id, created_by: owner.savedBy, ...toStoredHook(blueprint.name, point, index, hook) }
    }),
  )
}

function toStoredHook(
  agent: string,
  point: RunHookPoint,
  index: number,
  hook: RunHook,
): Omit<BlueprintHook, 'id' | 'created_by'> {
  const policy = hook.on_error === 'block' ? 'block' : 'allow'
  return {
    name: `${agent}: ${point} → ${hook.type === 'http' ? shownUrl(hook.url) : hook.agent_name}`,
    event: runHookPoints[point],
    ...toHandler(hook),
    priority: FIRST_PRIORITY - index,
    enabled: true,
    timeout_ms: (hook.timeout_seconds ?? DEFAULT_SECONDS) * 1_000,
    on_error: policy,
    on_timeout: policy,
    on_invalid: policy,
    // A hook that nothing waits for runs, is recorded and changes nothing.
    shadow: hook.mode === 'async' && decidingPoints.includes(point),
  }
}

function toHandler(hook: RunHook): Pick<BlueprintHook, 'handler_type' | 'config'> {
  if (hook.type === 'agent') return { handler_type: 'agent', config: { agent_name: hook.agent_name } }
  const { url, method = 'POST', headers = {} } = hook
  return { handler_type: 'http', config: { url, method, headers, format: 'run_hook' } }
}

/**
 * Throws if a header uses a variable that an administrator did not allow. A hook that would fail each time is refused
 * when it is saved.
 */
export function assertVariablesAllowed(hook: RunHook, allowed: readonly string[], at: string): void {
  if (hook.type !== 'http') return
  for (const [name, value] of Object.entries(hook.headers ?? {}))
    for (const variable of variablesIn(value))
      if (!allowed.includes(variable))
        throw new HookError(
          'config.field',
          `headers.${name} uses the variable ${variable.slice(0, 80)}, which is not allowed`,
          {
            at: `${at}.headers.${name}`,
            hint: 'An administrator lists it in the setting `header_variables`.',
          },
        )
}

/** A header that names a credential and has it as plain text, which every reader of the blueprint sees. */
export function readableSecretsOf(hook: RunHook): readonly string[] {
  if (hook.type !== 'http') return []
  return Object.entries(hook.headers ?? {})
    .filter(([name, value]) => credential.test(name) && !isConcealed(value))
    .map(([name]) => name)
}

const credential = /authorization|cookie|token|secret|password|api-?key|signature/i

function isConcealed(value: string): boolean {
  return secretName(value) !== undefined || variablesIn(value).length > 0
}

function requireNamed({ $ref }: RunHookReference, named: NamedRunHooks, at: string): RunHook {
  const hook = named.get($ref)
  if (hook !== undefined) return hook
  throw new HookError('config.field', `there is no run hook ${JSON.stringify($ref.slice(0, 80))}`, {
    at,
    hint: 'Save it first, or write the hook in the blueprint.',
  })
}

function isReference(entry: RunHook | RunHookReference): entry is RunHookReference {
  return '$ref' in entry
}

/** The hooks with the switch of those that are stored already: what a person or the breaker switched off stays off. */
export async function keepSwitches(
  store: Pick<HookStore, 'findHook'>,
  tenant: string,
  hooks: readonly BlueprintHook[],
): Promise<readonly BlueprintHook[]> {
  const rows = await Promise.all(hooks.map(({ id }) => store.findHook(tenant, id)))
  return hooks.map((hook, index) => {
    const { enabled = true, disabled_reason, tripped_by } = rows[index] ?? {}
    return { ...hook, enabled, ...definedFields({ disabled_reason, tripped_by }) }
  })
}

/** The agent that a stored hook starts, or the address that it calls. */
export function hookTarget({ config, name, handler_type }: HookRow): string {
  const { agent_name: agent, url } = isRecord(config) ? config : {}
  if (typeof agent === 'string') return agent
  return typeof url === 'string' ? shownUrl(url) : (name ?? handler_type)
}
