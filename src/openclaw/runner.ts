import type { EventRow } from '../engine/core/event.ts'
import { openclawRows } from '../engine/events/openclaw/rows.ts'
import { hookRules } from './hook-rules.ts'
import { claim, claimFor, claimOutcome } from './run/claim.ts'
import { type Call, type Desk, openDesk } from './run/desk.ts'
import { mergeInTurn } from './run/merge-in-turn.ts'
import { observe } from './run/observe.ts'
import { runSync } from './run/sync.ts'
import type { PluginHookName } from './shape/hook-shape.ts'
import type { GlobalHookRunnerRegistry } from './shape/registration.ts'
import type { PluginHookInboundClaimResult, PluginTargetedInboundClaimOutcome } from './shape/results.ts'
import type { HookRunner, HookRunnerOptions, RunMethods } from './shape/runner.ts'

const loops = { observe, transform: mergeInTurn, gate: mergeInTurn, claim } as const

/** Runs the hooks that plugins have put into a registry, by the rules of the event rows and `hookRules`. */
export function createHookRunner(
  registry: GlobalHookRunnerRegistry,
  options: HookRunnerOptions = {},
): HookRunner {
  const desk = openDesk(registry, options)
  const inboundClaim = callsOf(desk, 'inbound_claim')
  return {
    ...runMethods(desk),
    // What a plugin returns is not checked at this door, so its answer is what its type says or the plugin lies.
    runInboundClaimForPlugin: async (pluginId, event, ctx) =>
      (await claimFor(inboundClaim(event, ctx), pluginId)) as PluginHookInboundClaimResult | undefined,
    runInboundClaimForPluginOutcome: async (pluginId, event, ctx) =>
      (await claimOutcome(inboundClaim(event, ctx), pluginId)) as PluginTargetedInboundClaimOutcome,
    hasHooks: (hookName) => registry.typedHooks.some((hook) => hook.hookName === hookName),
    getHookCount: (hookName) => registry.typedHooks.filter((hook) => hook.hookName === hookName).length,
  }
}

function runMethods(desk: Desk): RunMethods {
  // The keys of the rows are the names of the hooks, which Object.keys does not know.
  const methods = (Object.keys(openclawRows) as PluginHookName[]).map((name) => {
    const { sync, mode } = openclawRows[name]
    const callOf = callsOf(desk, name)
    const run = (event: unknown, ctx: unknown) => runSync(callOf(event, ctx))
    const wait = async (event: unknown, ctx: unknown) => loops[mode](callOf(event, ctx))
    return [methodName(name), sync ? run : wait]
  })
  // Built from the same rows as the type: name, event and answer of each method follow from its row.
  return Object.fromEntries(methods) as RunMethods
}

function callsOf(desk: Desk, name: PluginHookName): (event: unknown, ctx: unknown) => Call {
  const row: EventRow = openclawRows[name]
  const rule = hookRules[name] ?? {}
  return (event, ctx) => ({
    desk,
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
