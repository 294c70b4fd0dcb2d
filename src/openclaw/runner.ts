import type { EventRow } from '../engine/core/event.ts'
import { openclawRows } from '../engine/events/openclaw/rows.ts'
import { hookRules } from './hook-rules.ts'
import { createRunnerState, type HookCall, type RunnerState } from './run/hook-call.ts'
import { runClaim, runClaimOutcome, runObservers, runSequential, runSync } from './run/run-hooks.ts'
import type {
  GlobalHookRunnerRegistry,
  HookRunner,
  HookRunnerOptions,
  RunMethods,
} from './shape/hook-runner.ts'
import type { PluginHookName } from './shape/hook-shape.ts'
import type { PluginHookInboundClaimResult, PluginTargetedInboundClaimOutcome } from './shape/hook-types.ts'

const runByMode = {
  observe: runObservers,
  transform: runSequential,
  gate: runSequential,
  claim: runClaim,
} as const

/**
 * Creates OpenClaw's hook runner over a registry of plugin hooks. Returns one `run…` method per hook. A method rejects
 * (a synchronous one throws) when a handler of a hook that fails closed fails, or with `catchErrors: false` when any
 * handler does.
 *
 * @example
 * const runner = createHookRunner(registry, { logger: console })
 * const result = await runner.runBeforeToolCall({ toolName: 'exec', params }, { toolName: 'exec' })
 * if (result?.block) throw new Error(result.blockReason)
 */
export function createHookRunner(
  registry: GlobalHookRunnerRegistry,
  options: HookRunnerOptions = {},
): HookRunner {
  const state = createRunnerState(registry, options)
  const inboundClaim = callsOf(state, 'inbound_claim')
  return {
    ...runMethods(state),
    // OpenClaw does not check what a plugin returns, so the types trust the plugin.
    runInboundClaimForPlugin: async (pluginId, event, ctx) =>
      (await runClaim(inboundClaim(event, ctx), pluginId)) as PluginHookInboundClaimResult | undefined,
    runInboundClaimForPluginOutcome: async (pluginId, event, ctx) =>
      (await runClaimOutcome(inboundClaim(event, ctx), pluginId)) as PluginTargetedInboundClaimOutcome,
    hasHooks: (hookName) => registry.typedHooks.some((hook) => hook.hookName === hookName),
    getHookCount: (hookName) => registry.typedHooks.filter((hook) => hook.hookName === hookName).length,
  }
}

function runMethods(state: RunnerState): RunMethods {
  // Object.keys does not know that the keys of the rows are hook names.
  const methods = (Object.keys(openclawRows) as PluginHookName[]).map((name) => {
    const { sync, mode } = openclawRows[name]
    const callOf = callsOf(state, name)
    const run = (event: unknown, ctx: unknown) => runSync(callOf(event, ctx))
    const wait = async (event: unknown, ctx: unknown) => runByMode[mode](callOf(event, ctx))
    return [methodName(name), sync ? run : wait]
  })
  // The type derives each method from the same rows.
  return Object.fromEntries(methods) as RunMethods
}

function callsOf(state: RunnerState, name: PluginHookName): (event: unknown, ctx: unknown) => HookCall {
  const row: EventRow = openclawRows[name]
  const rule = hookRules[name] ?? {}
  return (event, ctx) => ({
    runner: state,
    name,
    row,
    rule,
    ctx,
    event: rule.takesRunId ? withRunId(event as Correlated, ctx as Correlated) : event,
  })
}

type Correlated = { readonly runId?: unknown }

function withRunId(event: Correlated, ctx: Correlated): Correlated {
  return event.runId || !ctx.runId ? event : { ...event, runId: ctx.runId }
}

function methodName(name: PluginHookName): string {
  return `run_${name}`.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
