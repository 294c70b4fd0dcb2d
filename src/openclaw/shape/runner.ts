import type { GateHookResult, InputGateDecision } from '../../engine/events/openclaw/gate-decision.ts'
import type { HookFailurePolicy } from '../hook-rules.ts'
import type { HookContext } from './contexts.ts'
import type { HookEvent, HookResult, ObserveName, PluginHookName, SyncName } from './hook-shape.ts'
import type { PluginHookInboundClaimResult, PluginTargetedInboundClaimOutcome } from './results.ts'

export type HookRunnerLogger = {
  debug?: (message: string) => void
  warn: (message: string) => void
  error: (message: string) => void
}

export type HookRunnerOptions = {
  logger?: HookRunnerLogger
  /** Log what handlers throw instead of throwing it on; true unless said otherwise. */
  catchErrors?: boolean
  failurePolicyByHook?: Partial<Record<PluginHookName, HookFailurePolicy>>
  /** For hooks that only observe. The work of a handler that is too slow goes on unheard. */
  voidHookTimeoutMsByHook?: Partial<Record<PluginHookName, number>>
  /** For all other hooks that can wait. */
  modifyingHookTimeoutMsByHook?: Partial<Record<PluginHookName, number>>
}

type Answer<K extends PluginHookName> = K extends 'before_agent_run'
  ? Promise<GateHookResult<InputGateDecision> | undefined>
  : K extends ObserveName
    ? Promise<void>
    : K extends SyncName
      ? HookResult<K> | undefined
      : Promise<HookResult<K> | undefined>

type Pascal<S extends string> = S extends `${infer Word}_${infer Rest}`
  ? `${Capitalize<Word>}${Pascal<Rest>}`
  : Capitalize<S>

/** One method per hook: `before_tool_call` is run by `runBeforeToolCall`. */
export type RunMethods = {
  [K in PluginHookName as `run${Pascal<K>}`]: (event: HookEvent<K>, ctx: HookContext<K>) => Answer<K>
}

export type HookRunner = RunMethods & {
  runInboundClaimForPlugin(
    pluginId: string,
    event: HookEvent<'inbound_claim'>,
    ctx: HookContext<'inbound_claim'>,
  ): Promise<PluginHookInboundClaimResult | undefined>
  runInboundClaimForPluginOutcome(
    pluginId: string,
    event: HookEvent<'inbound_claim'>,
    ctx: HookContext<'inbound_claim'>,
  ): Promise<PluginTargetedInboundClaimOutcome>
  hasHooks(hookName: PluginHookName): boolean
  getHookCount(hookName: PluginHookName): number
}

export type SubagentLifecycleHookRunner = Pick<
  HookRunner,
  'hasHooks' | 'runSubagentSpawning' | 'runSubagentSpawned' | 'runSubagentEnded'
>
