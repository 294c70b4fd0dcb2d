import { v5 } from 'uuid'
import { isRecord } from '../engine/core/check.ts'
import { HookError } from '../engine/core/error.ts'
import type { HookRow, HookStore } from '../store/stores/hook-store.ts'
import type { BlueprintHook, RunStore } from '../store/stores/run-store.ts'
import {
  type AgentRunHook,
  assertPointAllows,
  type Blueprint,
  type RunHookPoint,
  type RunHookReference,
  readRunHook,
  runHookPointNames,
  runHookPoints,
} from './blueprint.ts'

const DEFAULT_SECONDS = 300
/** The first hook of a point has this priority, and each of its successors one less. */
const FIRST_PRIORITY = 1_000

/** Whose blueprint it is, and who saves it. */
export interface BlueprintOwner {
  readonly tenant: string
  readonly savedBy: string
}

/** The named hooks of a tenant. */
export type NamedRunHooks = ReadonlyMap<string, AgentRunHook>

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
export function hookAgentsOf({ hooks }: Blueprint, named: NamedRunHooks): readonly string[] {
  const entries = Object.values(hooks).flat()
  return entries.flatMap((entry) => {
    const hook = isReference(entry) ? named.get(entry.$ref) : entry
    return hook === undefined ? [] : [hook.agent_name]
  })
}

/**
 * The hooks of a blueprint as ordinary hooks, so that the dispatcher orders, guards, records and explains them. The id of
 * a hook follows from its position: saving a blueprint again keeps its history, and its switch.
 */
export function toStoredHooks(
  blueprint: Blueprint,
  named: NamedRunHooks,
  owner: BlueprintOwner,
): readonly BlueprintHook[] {
  return runHookPointNames.flatMap((point) =>
    (blueprint.hooks[point] ?? []).map((entry, index) => {
      const at = `hooks.${point}`
      const hook = isReference(entry) ? requireNamed(entry, named, at) : entry
      assertPointAllows(hook, point, at)
      return toStoredHook({ blueprint, point, index, hook }, owner)
    }),
  )
}

interface PlacedHook {
  readonly blueprint: Blueprint
  readonly point: RunHookPoint
  readonly index: number
  readonly hook: AgentRunHook
}

function toStoredHook({ blueprint, point, index, hook }: PlacedHook, owner: BlueprintOwner): BlueprintHook {
  const policy = hook.on_error === 'block' ? 'block' : 'allow'
  return {
    id: v5(`blueprint/${blueprint.name}/${point}/${index}`, owner.tenant),
    created_by: owner.savedBy,
    name: `${blueprint.name}: ${point} → ${hook.agent_name}`,
    event: runHookPoints[point],
    handler_type: 'agent',
    config: { agent_name: hook.agent_name },
    priority: FIRST_PRIORITY - index,
    enabled: true,
    timeout_ms: (hook.timeout_seconds ?? DEFAULT_SECONDS) * 1_000,
    on_error: policy,
    on_timeout: policy,
    on_invalid: policy,
  }
}

function requireNamed({ $ref }: RunHookReference, named: NamedRunHooks, at: string): AgentRunHook {
  const hook = named.get($ref)
  if (hook !== undefined) return hook
  throw new HookError('config.field', `there is no run hook ${JSON.stringify($ref.slice(0, 80))}`, {
    at,
    hint: 'Save it first, or write the hook in the blueprint.',
  })
}

function isReference(entry: AgentRunHook | RunHookReference): entry is RunHookReference {
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
    return {
      ...hook,
      enabled,
      ...(disabled_reason === undefined ? {} : { disabled_reason }),
      ...(tripped_by === undefined ? {} : { tripped_by }),
    }
  })
}

/** The agent that a stored hook starts. */
export function hookTarget({ config, name, handler_type }: HookRow): string {
  const agent = isRecord(config) ? config.agent_name : undefined
  return typeof agent === 'string' ? agent : (name ?? handler_type)
}
