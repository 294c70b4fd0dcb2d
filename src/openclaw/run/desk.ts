import type { EventRow, Mode } from '../../engine/core/event.ts'
import { type HookRule, hookRules } from '../hook-rules.ts'
import type { PluginHookName } from '../shape/hook-shape.ts'
import type { GlobalHookRunnerRegistry } from '../shape/registration.ts'
import type { HookRunnerLogger, HookRunnerOptions } from '../shape/runner.ts'

/** A registration as the loops see it: any event, any answer. */
export interface Listener {
  readonly pluginId: string
  readonly hookName: PluginHookName
  readonly handler: (event: unknown, ctx: unknown) => unknown
  readonly priority?: number
  readonly timeoutMs?: number
}

/** One run of one hook. */
export interface Call {
  readonly desk: Desk
  readonly name: PluginHookName
  readonly row: EventRow
  readonly rule: HookRule
  readonly event: unknown
  readonly ctx: unknown
}

/** What all runs of one runner share. */
export interface Desk {
  readonly registry: GlobalHookRunnerRegistry
  readonly logger: HookRunnerLogger | undefined
  /** Whether a failure is logged rather than thrown. */
  swallows(name: PluginHookName): boolean
  timeoutOf(name: PluginHookName, mode: Mode): number | undefined
}

export function openDesk(registry: GlobalHookRunnerRegistry, options: HookRunnerOptions): Desk {
  const catches = options.catchErrors ?? true
  const policies = { ...ruleValues('failure'), ...options.failurePolicyByHook }
  const forObservers = { ...ruleValues('timeoutMs'), ...options.voidHookTimeoutMsByHook }
  const forOthers = { ...ruleValues('timeoutMs'), ...options.modifyingHookTimeoutMsByHook }
  return {
    registry,
    logger: options.logger,
    swallows: (name) => catches && (policies[name] ?? 'fail-open') === 'fail-open',
    timeoutOf: (name, mode) => (mode === 'observe' ? forObservers : forOthers)[name],
  }
}

/** The listeners of a hook, highest priority first, ties as registered. Read anew each time: plugins come and go. */
export function listenersOf({ desk, name }: Call): readonly Listener[] {
  // The name chose the handler, so it gets the event it was written for; the compiler cannot follow that.
  return (desk.registry.typedHooks as readonly Listener[])
    .filter((listener) => listener.hookName === name)
    .toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0))
}

function ruleValues<P extends keyof HookRule>(
  property: P,
): Partial<Record<PluginHookName, NonNullable<HookRule[P]>>> {
  return Object.fromEntries(
    Object.entries(hookRules).flatMap(([name, rule]) =>
      rule[property] === undefined ? [] : [[name, rule[property]]],
    ),
  )
}
