/**
 * `hookhelm/hook-chains`: recovery rules for hosts that have hook chains of their own. The host sends its events here and
 * lends what actions need; the file, the guards and the results are those of OpenClaude.
 */
import { createHookChains } from './rules/hook-chains/dispatch-hook-chains.ts'

const shared = createHookChains()

/**
 * Reads the hook-chains file: `pathOverride`, else `CLAUDE_CODE_HOOK_CHAINS_CONFIG_PATH`, else
 * `.openclaude/hook-chains.json`. Without `CLAUDE_CODE_ENABLE_HOOK_CHAINS` the config is switched off. Never throws: an
 * unusable file gives a config without rules, and `error`.
 */
export const loadHookChainsConfig = shared.loadHookChainsConfig

/**
 * Sends an event through the rules of the file, and runs the actions of every rule that matches, one after the other.
 *
 * ```ts
 * const { actionResults } = await dispatchHookChainsForEvent({
 *   event: { eventName: 'TaskCompleted', outcome: 'failed', payload: { task_id: '7', error: 'timeout' } },
 *   runtime: { launchFallbackAgent: async ({ prompt }) => ({ launched: true, agentId: await start(prompt) }) },
 * })
 * ```
 */
export const dispatchHookChainsForEvent = shared.dispatchHookChainsForEvent

/** Forgets the cached config and every cooldown and dedup window. */
export const resetHookChainsRuntimeStateForTests = shared.resetHookChainsRuntimeStateForTests

export { evaluateHookChainRules, type HookChainEvent, type RulePayload } from './rules/compile-rules.ts'
export type { HookChainAction, HookChainRule, HookChainsConfig } from './rules/files/rule-schema.ts'
export {
  createHookChains,
  type DispatchHookChainsOptions,
  type HookChainActionResult,
  type HookChains,
  type HookChainsDispatchResult,
} from './rules/hook-chains/dispatch-hook-chains.ts'
export type {
  HookChainsRuntime,
  HookChainsTelemetry,
  LaunchFallbackReply,
  LaunchFallbackRequest,
  MailboxMessage,
  NotifyTeamReply,
  NotifyTeamRequest,
  RemoteBridge,
  WarmCapacityReply,
  WarmCapacityRequest,
} from './rules/hook-chains/hook-chains-runtime.ts'
export type {
  LoadedHookChains,
  LoaderParts,
  LoadHookChainsOptions,
} from './rules/hook-chains/load-hook-chains.ts'
