/** How OpenClaw runs the listeners of one hook: one function per way of combining them. */
import type { EventRow } from '../../engine/core/event.ts'
import { firstLine } from '../log-text.ts'
import {
  type HookCall,
  listenersOf,
  logOrThrow,
  type PluginListener,
  rejectPromise,
  startHandler,
} from './hook-call.ts'

type Answer = Readonly<Record<string, unknown>>

/** Runs all listeners at once and resolves when all have settled. A hook that fails closed rejects with the first failure. */
export async function runObservers(call: HookCall): Promise<void> {
  const listeners = listenersOf(call)
  if (listeners.length === 0) return
  logStart(call, `(${listeners.length} handlers)`)
  await Promise.all(
    listeners.map(async (listener) => {
      try {
        await startHandler(call, listener)
      } catch (error) {
        logOrThrow(call, listener, error)
      }
    }),
  )
}

interface MergedAnswer {
  readonly answer: Answer
  /** The plugin that determined the answer. */
  readonly by: string
}

/** Runs one listener after the other, each with the original event, and merges their answers. A block ends the chain. */
export async function runSequential(call: HookCall): Promise<unknown> {
  const listeners = listenersOf(call)
  if (listeners.length === 0) return undefined
  logStart(call, `(${listeners.length} handlers, sequential)`)
  let merged: MergedAnswer | undefined
  for (const listener of listeners) {
    try {
      const answer = await startHandler(call, listener)
      if (answer === undefined || (answer === null && !call.rule.readsNull)) continue
      // OpenClaw does not check answers; merge rules read only the fields they know.
      merged = mergeAnswer(call.row, merged, { answer: answer as Answer, by: listener.pluginId })
      if (!isBlock(call.row, merged.answer)) continue
      call.runner.logger?.debug?.(stopLine(call, listener))
      break
    } catch (error) {
      logOrThrow(call, listener, error)
    }
  }
  if (!merged) return undefined
  return call.rule.namesPlugin ? { decision: merged.answer, pluginId: merged.by } : merged.answer
}

function isBlock(row: EventRow, answer: Answer): boolean {
  const verdict = row.verdict?.(answer)
  return typeof verdict === 'object' && verdict.kind === 'block'
}

function mergeAnswer(row: EventRow, before: MergedAnswer | undefined, next: MergedAnswer): MergedAnswer {
  const answer = row.merge
    ? row.merge(before?.answer, next.answer, next.by)
    : mergeFields(row, before?.answer, next.answer)
  // Two plugins may return the same object; the later plugin then counts.
  if (before && answer === before.answer && answer !== next.answer) return before
  return { answer, by: next.by }
}

function mergeFields(row: EventRow, before: Answer | undefined, next: Answer): Answer {
  return Object.fromEntries(
    Object.entries(row.fields).map(([key, { merge }]) => [key, merge.merge(before?.[key], next[key])]),
  )
}

function stopLine({ name, rule }: HookCall, { pluginId, priority }: PluginListener): string {
  return `[hooks] ${name} ${rule.stopsWith} decided by ${pluginId} (priority=${priority ?? 0}); skipping remaining handlers`
}

type Claimed = { readonly handled: unknown }
type ClaimOutcome =
  | { readonly status: 'handled'; readonly result: Claimed }
  | { readonly status: 'missing_plugin' | 'no_handler' | 'declined' }
  | { readonly status: 'error'; readonly error: string }

/** Runs one listener after the other, of all plugins or of one, until one claims the event. */
export async function runClaim(call: HookCall, pluginId?: string): Promise<unknown> {
  const listeners = claimListeners(call, pluginId)
  const count = `${listeners.length} handlers`
  if (listeners.length === 0) return undefined
  logStart(
    call,
    pluginId === undefined ? `(${count}, first-claim wins)` : `for ${pluginId} (${count}, targeted)`,
  )
  return (await firstClaim(call, listeners)).claimed
}

function claimListeners(call: HookCall, pluginId: string | undefined): readonly PluginListener[] {
  return listenersOf(call).filter((listener) => pluginId === undefined || listener.pluginId === pluginId)
}

/** Like `runClaim` of one plugin, with the reason when the plugin did not claim. */
export async function runClaimOutcome(call: HookCall, pluginId: string): Promise<ClaimOutcome> {
  const isLoaded = call.runner.registry.plugins.some(
    ({ id, status }) => id === pluginId && status === 'loaded',
  )
  if (!isLoaded) return { status: 'missing_plugin' }
  const listeners = claimListeners(call, pluginId)
  if (listeners.length === 0) return { status: 'no_handler' }
  logStart(call, `for ${pluginId} (${listeners.length} handlers, targeted outcome)`)
  const { claimed, failures } = await firstClaim(call, listeners)
  if (claimed) return { status: 'handled', result: claimed }
  return failures.length > 0 ? { status: 'error', error: firstLine(failures[0]) } : { status: 'declined' }
}

async function firstClaim(
  call: HookCall,
  listeners: readonly PluginListener[],
): Promise<{ claimed?: Claimed; failures: readonly unknown[] }> {
  const failures: unknown[] = []
  for (const listener of listeners) {
    try {
      const answer = await startHandler(call, listener)
      if (isClaim(answer)) return { claimed: answer, failures }
    } catch (error) {
      failures.push(error)
      logOrThrow(call, listener, error)
    }
  }
  return { failures }
}

function isClaim(answer: unknown): answer is Claimed {
  return Boolean((answer as Claimed | null | undefined)?.handled)
}

/**
 * Runs one listener after the other without waiting, each with the message that the previous one returned. A gate
 * returns a message only if it changed; a transform always returns one.
 */
export function runSync(call: HookCall): unknown {
  const listeners = listenersOf(call)
  if (listeners.length === 0) return undefined
  // The host passes an object; its contents are between the host and the handlers.
  const event = call.event as Answer
  let message = event.message
  for (const listener of listeners) {
    try {
      const answer = syncAnswer(call, listener, { ...event, message })
      if (!answer) continue
      if (isBlock(call.row, answer)) return { block: true }
      if (answer.message) message = answer.message
    } catch (error) {
      logOrThrow(call, listener, error)
    }
  }
  const isUnchanged = call.row.mode === 'gate' && message === event.message
  return isUnchanged ? undefined : { message }
}

function syncAnswer(call: HookCall, listener: PluginListener, event: Answer): Answer | undefined {
  const answer = listener.handler(event, call.ctx)
  if (!isPromiseLike(answer)) return answer as Answer | undefined
  // Nothing awaits this promise, and an unhandled rejection would end the process.
  Promise.resolve(answer).catch(() => {})
  rejectPromise(call, listener)
  return undefined
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  const canHaveThen = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return canHaveThen && typeof (value as { then?: unknown }).then === 'function'
}

function logStart({ runner, name }: HookCall, details: string): void {
  runner.logger?.debug?.(`[hooks] running ${name} ${details}`)
}
