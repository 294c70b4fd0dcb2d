import { type Clock, systemClock } from '../../engine/core/time/clock.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { type ActionOutcome, skipped } from '../actions/run-action.ts'
import type { HookChainEvent } from '../compile-rules.ts'
import type { HookChainAction, HookChainRule } from '../files/rule-schema.ts'
import {
  chainDepthSkip,
  cooldownSkip,
  createRuleGuards,
  dedupKey,
  dedupSkip,
  type RuleGuards,
  ruleDepthSkip,
} from '../rule-guards.ts'
import { runHookChainAction } from './hook-chain-actions.ts'
import type { HookChainsRuntime } from './hook-chains-runtime.ts'
import {
  createHookChainsLoader,
  type LoadedHookChains,
  type LoaderParts,
  type LoadHookChainsOptions,
  type SharedHookChains,
} from './load-hook-chains.ts'

/** One event to dispatch to the rules. */
export interface DispatchHookChainsOptions {
  readonly event: HookChainEvent
  readonly runtime?: HookChainsRuntime
  readonly configPathOverride?: string
  /** Reads the config although the cache has it. */
  readonly forceReloadConfig?: boolean
}

/** What happened to one action. */
export interface HookChainActionResult extends ActionOutcome {
  readonly ruleId: string
  readonly actionType: HookChainAction['type']
  readonly actionId?: string
}

/** What a dispatch did. */
export interface HookChainsDispatchResult {
  /** False if the config is switched off or has no rules. */
  readonly enabled: boolean
  readonly configPath: string
  readonly fromCache: boolean
  /** How many rules the config has. */
  readonly evaluatedRuleCount: number
  readonly matchedRuleIds: readonly string[]
  readonly actionResults: readonly HookChainActionResult[]
  /** Why no rule was looked at. */
  readonly skipReason?: string
}

export interface HookChains {
  /** Reads the hook-chains file. The returned config is a copy, which the caller may change. */
  loadHookChainsConfig(options?: LoadHookChainsOptions): LoadedHookChains
  /** Sends an event through the rules and runs the actions of those that match. */
  dispatchHookChainsForEvent(options: DispatchHookChainsOptions): Promise<HookChainsDispatchResult>
  /** Forgets the cached config and every window. */
  resetHookChainsRuntimeStateForTests(): void
  /** How many windows are kept. */
  countWindows(): { readonly cooldowns: number; readonly dedup: number }
}

/** Hook chains with state of their own: one cached config, and the windows of rules and actions. */
export function createHookChains(parts: LoaderParts = {}): HookChains {
  const { clock = systemClock } = parts
  const loader = createHookChainsLoader(parts)
  const guards = createRuleGuards()
  return {
    loadHookChainsConfig(options) {
      const { ruleSet: _, config, ...loaded } = loader.load(options)
      return { ...loaded, config: structuredClone(config) }
    },
    async dispatchHookChainsForEvent({ event, runtime = {}, configPathOverride, forceReloadConfig }) {
      const loaded = loader.load({
        ...definedFields({ pathOverride: configPathOverride, forceReload: forceReloadConfig }),
      })
      return dispatch({ loaded, guards, clock, event, runtime })
    },
    resetHookChainsRuntimeStateForTests() {
      loader.clear()
      guards.cooldown.clear()
      guards.dedup.clear()
    },
    countWindows: () => ({ cooldowns: guards.cooldown.size, dedup: guards.dedup.size }),
  }
}

interface Dispatch {
  readonly loaded: SharedHookChains
  readonly guards: RuleGuards
  readonly clock: Clock
  readonly event: HookChainEvent
  readonly runtime: HookChainsRuntime
}

async function dispatch(call: Dispatch): Promise<HookChainsDispatchResult> {
  const { loaded, guards, clock, event, runtime } = call
  const { config, path: configPath, fromCache, ruleSet } = loaded
  const { chainDepth = 0, signal, telemetry } = runtime
  const nothing = { configPath, fromCache, evaluatedRuleCount: 0, matchedRuleIds: [], actionResults: [] }
  if (!config.enabled || config.rules.length === 0) return { enabled: false, ...nothing }
  const skipReason = chainDepthSkip(chainDepth, config.maxChainDepth)
  if (skipReason !== undefined) return { enabled: true, ...nothing, skipReason }
  const now = clock.now()
  guards.prune(now)
  const matched = ruleSet.matching(event)
  const actionResults: HookChainActionResult[] = []
  for (const rule of matched) {
    if (signal?.aborted) break
    actionResults.push(...(await fireRule(call, rule, now)))
  }
  telemetry?.diagnostics?.('hook_chains_dispatch', {
    event_name: event.eventName,
    outcome: event.outcome,
    matched_rules: matched.length,
    action_results: actionResults.length,
  })
  return {
    ...{ enabled: true, configPath, fromCache, evaluatedRuleCount: config.rules.length },
    matchedRuleIds: matched.map(({ id }) => id),
    actionResults,
  }
}

/** The results of the actions of one rule, in their order. */
async function fireRule(call: Dispatch, rule: HookChainRule, now: number): Promise<HookChainActionResult[]> {
  const { loaded, guards, event, runtime } = call
  const { chainDepth = 0, telemetry } = runtime
  const results: HookChainActionResult[] = []
  const add = (action: HookChainAction, outcome: ActionOutcome) => {
    const { type: actionType, id } = action
    const result = { ruleId: rule.id, actionType, ...definedFields({ actionId: id }), ...outcome }
    results.push(result)
    reportAction(call, result)
  }
  const skipAll = (reason: string) => {
    for (const action of rule.actions) add(action, skipped(reason))
    return results
  }
  const depthSkip = ruleDepthSkip(chainDepth, rule.maxDepth)
  if (depthSkip !== undefined) return skipAll(depthSkip)
  const left = guards.cooldown.left(rule.id, now)
  if (left > 0) return skipAll(cooldownSkip(left))
  const cooldownMs = rule.cooldownMs ?? loaded.config.defaultCooldownMs
  // Before the actions, so that an event that an action causes finds the window.
  if (cooldownMs > 0) guards.cooldown.arm(rule.id, now + cooldownMs)
  const { eventName: hook_event_name, outcome } = event
  const fields = { rule_id: rule.id, hook_event_name, outcome, chain_depth: chainDepth }
  telemetry?.analytics?.('chain_rule_matched', fields)
  telemetry?.otel?.('chain_rule_matched', fields)
  for (const [index, action] of rule.actions.entries())
    add(action, await runGuarded({ ...call, rule, now }, action, index))
  return results
}

async function runGuarded(
  { loaded, guards, event, runtime, clock, rule, now }: Dispatch & { rule: HookChainRule; now: number },
  action: HookChainAction,
  index: number,
): Promise<ActionOutcome> {
  if (runtime.signal?.aborted) return skipped('aborted')
  const windowMs = action.dedupWindowMs ?? rule.dedupWindowMs ?? loaded.config.defaultDedupWindowMs
  if (windowMs > 0) {
    const { dedupScope: scope = '' } = runtime
    const key = dedupKey({ ruleId: rule.id, actionId: action.id ?? `${action.type}:${index}`, event, scope })
    const left = guards.dedup.left(key, now)
    if (left > 0) return skipped(dedupSkip(left))
    guards.dedup.arm(key, now + windowMs)
  }
  return runHookChainAction(action, { ...event, ruleId: rule.id }, { runtime, clock })
}

function reportAction({ event, runtime: { telemetry } }: Dispatch, result: HookChainActionResult): void {
  const { ruleId, actionType, actionId, status, reason, detail } = result
  const name = `chain_action_${status}`
  const fields = {
    rule_id: ruleId,
    action_type: actionType,
    action_id: actionId,
    hook_event_name: event.eventName,
    outcome: event.outcome,
    reason_category: reason === undefined ? undefined : reasonCategory(reason),
  }
  telemetry?.analytics?.(name, fields)
  telemetry?.otel?.(name, { ...fields, reason, detail })
}

const categories = [
  ['aborted', 'aborted'],
  ['cooldown', 'cooldown'],
  ['dedup', 'dedup'],
  ['policy', 'policy'],
  ['context', 'context_missing'],
  ['precondition', 'precondition'],
  ['disabled', 'disabled'],
] as const

/** The kind of a reason, by the first word of the list that it contains. */
export function reasonCategory(reason: string): string {
  const lower = reason.toLowerCase()
  return categories.find(([word]) => lower.includes(word))?.[1] ?? 'other'
}
