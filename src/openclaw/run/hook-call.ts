import type { EventRow, Mode } from '../../engine/core/event.ts'
import { type HookRule, hookRules } from '../hook-rules.ts'
import { logText } from '../log-text.ts'
import type { GlobalHookRunnerRegistry, HookRunnerLogger, HookRunnerOptions } from '../shape/hook-runner.ts'
import type { PluginHookName } from '../shape/hook-shape.ts'

/** A registration as the runner sees it: any event, any answer. */
export interface PluginListener {
  readonly pluginId: string
  readonly hookName: PluginHookName
  readonly handler: (event: unknown, ctx: unknown) => unknown
  readonly priority?: number
  readonly timeoutMs?: number
}

/** One run of one hook. */
export interface HookCall {
  readonly runner: RunnerState
  readonly name: PluginHookName
  readonly row: EventRow
  readonly rule: HookRule
  readonly event: unknown
  readonly ctx: unknown
}

/** What all runs of one runner share. */
export interface RunnerState {
  readonly registry: GlobalHookRunnerRegistry
  readonly logger: HookRunnerLogger | undefined
  /** Whether the runner logs a failure of this hook instead of throwing it. */
  failsOpen(name: PluginHookName): boolean
  timeoutOf(name: PluginHookName, mode: Mode): number | undefined
}

/** The longest delay of a Node timer; a longer one fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

export function createRunnerState(
  registry: GlobalHookRunnerRegistry,
  options: HookRunnerOptions,
): RunnerState {
  const catches = options.catchErrors ?? true
  const policies = { ...ruleValues('failure'), ...options.failurePolicyByHook }
  const observerTimeouts = { ...ruleValues('timeoutMs'), ...options.voidHookTimeoutMsByHook }
  const otherTimeouts = { ...ruleValues('timeoutMs'), ...options.modifyingHookTimeoutMsByHook }
  return {
    registry,
    logger: options.logger,
    failsOpen: (name) => catches && (policies[name] ?? 'fail-open') === 'fail-open',
    timeoutOf: (name, mode) => (mode === 'observe' ? observerTimeouts : otherTimeouts)[name],
  }
}

function ruleValues<P extends keyof HookRule>(
  property: P,
): Partial<Record<PluginHookName, NonNullable<HookRule[P]>>> {
  const given = Object.entries(hookRules).filter(([, rule]) => rule[property] !== undefined)
  return Object.fromEntries(given.map(([name, rule]) => [name, rule[property]]))
}

/** The listeners of a hook, highest priority first, ties as registered. Read for each call: plugins load and unload. */
export function listenersOf({ runner, name }: HookCall): readonly PluginListener[] {
  // The hook name determines the handler's event type, which the compiler cannot follow.
  return (runner.registry.typedHooks as readonly PluginListener[])
    .filter((listener) => listener.hookName === name)
    .toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0))
}

/**
 * Calls a handler. The promise settles with the handler, or rejects at its timeout; the handler itself is not stopped.
 * Throws synchronously if the handler does.
 */
export function startHandler(call: HookCall, listener: PluginListener): Promise<unknown> {
  const { runner, name, row, event, ctx } = call
  const work = Promise.resolve(listener.handler(event, ctx))
  const ms = wholeMs(listener.timeoutMs) ?? wholeMs(runner.timeoutOf(name, row.mode))
  // An observer must not keep the process alive.
  return ms ? withTimeout(work, ms, row.mode === 'observe') : work
}

async function withTimeout(work: Promise<unknown>, ms: number, unref: boolean): Promise<unknown> {
  const expiry = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => expiry.reject(new Error(`timed out after ${ms}ms`)),
    Math.min(ms, MAX_TIMER_MS),
  )
  if (unref) timer.unref?.()
  try {
    return await Promise.race([work, expiry.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Undefined for an invalid limit. A limit below 1 ms becomes 0, which means no limit and no fallback to the next one. */
function wholeMs(limit: unknown): number | undefined {
  if (typeof limit !== 'number' || !Number.isFinite(limit) || limit <= 0) return undefined
  return Math.floor(limit)
}

/**
 * Logs a failure, or throws it when the hook fails closed. Hosts search their logs for these texts, so they stay exact,
 * and the errors are plain ones.
 */
export function logOrThrow(call: HookCall, listener: PluginListener, thrown: unknown): void {
  const reason = call.row.sync ? String(thrown) : logText(thrown)
  const text = `[hooks] ${call.name} handler from ${listener.pluginId} failed: ${reason}`
  if (!call.runner.failsOpen(call.name)) throw new Error(text, { cause: thrown })
  call.runner.logger?.error(text)
}

/** A synchronous hook cannot wait for a promise: warns and ignores it, or throws when the hook fails closed. */
export function rejectPromise(call: HookCall, listener: PluginListener): void {
  const text =
    `[hooks] ${call.name} handler from ${listener.pluginId} returned a Promise; ` +
    'this hook is synchronous and the result was ignored.'
  if (!call.runner.failsOpen(call.name)) throw new Error(text)
  call.runner.logger?.warn?.(text)
}
