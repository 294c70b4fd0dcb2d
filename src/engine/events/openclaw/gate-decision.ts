import type { ReadVerdict } from '../../core/event.ts'
import { isRecord } from '../../core/schema/check.ts'

/** The gate lets the run start. */
export type HookDecisionPass = { outcome: 'pass' }

/** The gate stops the run. `reason` is internal: it is never logged, stored or shown. `message` is for the user. */
export type HookDecisionBlock = {
  outcome: 'block'
  reason: string
  message?: string
  category?: string
  metadata?: Record<string, unknown>
}

/** The decision of a gate. */
export type HookDecision = HookDecisionPass | HookDecisionBlock

/** The decision of a gate before the model sees the input. */
export type InputGateDecision = HookDecision

/** A decision, and the plugin that made it. */
export type GateHookResult<D extends HookDecision = HookDecision> = { decision: D; pluginId: string }

/** The start of every message from `resolveBlockMessage`. */
export const BLOCK_MESSAGE_PREFIX = 'Your message could not be sent'

const blockKeys = new Set(['outcome', 'reason', 'message', 'category', 'metadata'])

/** Whether a value is a valid decision. An unknown key makes it invalid: a gate must not guess. */
export function isHookDecision(value: unknown): value is HookDecision {
  if (!isRecord(value)) return false
  const keys = Object.keys(value)
  if (value.outcome === 'pass') return keys.length === 1
  if (value.outcome !== 'block') return false
  if (!keys.every((key) => blockKeys.has(key)) || !hasText(value.reason)) return false
  if ('message' in value && !hasText(value.message)) return false
  if ('category' in value && !hasText(value.category)) return false
  return !('metadata' in value) || isRecord(value.metadata)
}

/** Returns the stricter of two decisions, or the first if both are equally strict. */
export function mergeHookDecisions(first: HookDecision | undefined, second: HookDecision): HookDecision {
  if (!first) return second
  return first.outcome === 'pass' && second.outcome === 'block' ? second : first
}

/** Returns the message for the user whose run was blocked. */
export function resolveBlockMessage(
  decision: HookDecisionBlock,
  options: { blockedBy?: string | undefined } = {},
): string {
  const by = options.blockedBy?.trim()
  const detail = hasText(decision.message) ? decision.message.trim() : undefined
  if (detail === undefined) return `${BLOCK_MESSAGE_PREFIX}: blocked${by ? ` by ${by}` : ''}`
  return `${BLOCK_MESSAGE_PREFIX}: ${detail}${by ? ` (blocked by ${by})` : ''}`
}

function hasText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

/** The verdict of a gate whose result blocks with one flag. `reasonKey` names the key of the result that may hold the reason. */
export function blockWhen(flag: string, otherwise: string, reasonKey?: string): ReadVerdict {
  return (result) => {
    if (!result[flag]) return undefined
    const given = reasonKey === undefined ? undefined : result[reasonKey]
    return { kind: 'block', reason: typeof given === 'string' && given ? given : otherwise }
  }
}
