import type { GateHookResult, InputGateDecision } from '../../engine/events/openclaw/gate-decision.ts'
import type { HookFailurePolicy } from '../hook-rules.ts'
import type { PluginHookContextOf } from './contexts.ts'
import type {
  ObserveName,
  PluginHookEventOf,
  PluginHookName,
  PluginHookResultOf,
  SyncName,
} from './hook-shape.ts'
import type { PluginHookInboundClaimResult, PluginTargetedInboundClaimOutcome } from './hook-types.ts'

// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement returns void
type Nothing = undefined | void
type HandlerAnswer<K extends PluginHookName> = K extends ObserveName
  ? Promise<void> | void
  : K extends SyncName
    ? PluginHookResultOf<K> | Nothing
    : Promise<PluginHookResultOf<K> | Nothing> | PluginHookResultOf<K> | Nothing

/** The handler that a plugin registers for each hook. */
export type PluginHookHandlerMap = {
  [K in PluginHookName]: (event: PluginHookEventOf<K>, ctx: PluginHookContextOf<K>) => HandlerAnswer<K>
}

/** One handler of one plugin. Higher priorities run first; `timeoutMs` overrides the runner's limit for the hook. */
export type PluginHookRegistration<K extends PluginHookName = PluginHookName> = {
  [N in K]: {
    pluginId: string
    hookName: N
    handler: PluginHookHandlerMap[N]
    priority?: number
    timeoutMs?: number
    source: string
  }
}[K]

/** The hooks of all plugins. The runner reads `typedHooks` at each call, so plugins may add and remove their own. */
export type HookRunnerRegistry = {
  /** Hooks of OpenClaw's older kind. The runner never calls them. */
  hooks: unknown[]
  typedHooks: PluginHookRegistration[]
}

/** A registry that also lists the plugins, which targeted claims look up. */
export type GlobalHookRunnerRegistry = HookRunnerRegistry & {
  plugins: Array<{ id: string; status: 'loaded' | 'disabled' | 'error' }>
}

/** Where the runner writes its log lines. */
export type HookRunnerLogger = {
  debug?: (message: string) => void
  warn: (message: string) => void
  error: (message: string) => void
}

/** Options of `createHookRunner`. */
export type HookRunnerOptions = {
  logger?: HookRunnerLogger
  /** Log what handlers throw instead of throwing it; true by default. */
  catchErrors?: boolean
  /** `fail-closed` throws the failures of a hook even if `catchErrors` is true. */
  failurePolicyByHook?: Partial<Record<PluginHookName, HookFailurePolicy>>
  /** Time limits of hooks that only observe. A handler that is too slow keeps running, but its result is ignored. */
  voidHookTimeoutMsByHook?: Partial<Record<PluginHookName, number>>
  /** Time limits of all other asynchronous hooks. */
  modifyingHookTimeoutMsByHook?: Partial<Record<PluginHookName, number>>
}

type RunnerAnswer<K extends PluginHookName> = K extends 'before_agent_run'
  ? Promise<GateHookResult<InputGateDecision> | undefined>
  : K extends ObserveName
    ? Promise<void>
    : K extends SyncName
      ? PluginHookResultOf<K> | undefined
      : Promise<PluginHookResultOf<K> | undefined>

type Pascal<S extends string> = S extends `${infer Word}_${infer Rest}`
  ? `${Capitalize<Word>}${Pascal<Rest>}`
  : Capitalize<S>

/** One method per hook: `runBeforeToolCall` runs `before_tool_call`. */
export type RunMethods = {
  [K in PluginHookName as `run${Pascal<K>}`]: (
    event: PluginHookEventOf<K>,
    ctx: PluginHookContextOf<K>,
  ) => RunnerAnswer<K>
}

/** Runs the hooks of a registry. A method returns or resolves to undefined when no handler answers. */
export type HookRunner = RunMethods & {
  /** Runs the inbound claims of one plugin. Resolves to its claim, or undefined. */
  runInboundClaimForPlugin(
    pluginId: string,
    event: PluginHookEventOf<'inbound_claim'>,
    ctx: PluginHookContextOf<'inbound_claim'>,
  ): Promise<PluginHookInboundClaimResult | undefined>
  /** Like `runInboundClaimForPlugin`, with the reason when there is no claim. */
  runInboundClaimForPluginOutcome(
    pluginId: string,
    event: PluginHookEventOf<'inbound_claim'>,
    ctx: PluginHookContextOf<'inbound_claim'>,
  ): Promise<PluginTargetedInboundClaimOutcome>
  /** Whether any plugin has registered this hook. */
  hasHooks(hookName: PluginHookName): boolean
  /** How many handlers are registered for this hook. */
  getHookCount(hookName: PluginHookName): number
}

/** The part of the runner that starts and ends sub-agents. */
export type SubagentLifecycleHookRunner = Pick<
  HookRunner,
  'hasHooks' | 'runSubagentSpawning' | 'runSubagentSpawned' | 'runSubagentEnded'
>
