import { createHash } from 'node:crypto'
import { firstText, type HookChainEvent } from './compile-rules.ts'

/** Why nothing fires at this depth. */
export function chainDepthSkip(depth: number, max: number): string | undefined {
  return depth >= max ? `max chain depth reached (${depth}/${max})` : undefined
}

/** Why a rule does not fire at this depth. */
export function ruleDepthSkip(depth: number, max: number | undefined): string | undefined {
  return max !== undefined && depth >= max ? `rule maxDepth reached (${depth}/${max})` : undefined
}

export const cooldownSkip = (leftMs: number): string => `rule cooldown active for ${leftMs}ms`
export const dedupSkip = (leftMs: number): string => `dedup window active for ${leftMs}ms`

const MAX_DEDUP = 20_000
const MAX_COOLDOWNS = 5_000

/** The windows of a process: when a rule, or an action for an event, may fire again. */
export interface RuleGuards {
  /** Forgets windows that are over, and the soonest to end of those that are too many. */
  prune(now: number): void
  cooldown: GuardWindows
  dedup: GuardWindows
}

export interface GuardWindows {
  /** How long the window of the key goes on, in milliseconds; 0 if there is none. */
  left(key: string, now: number): number
  arm(key: string, until: number): void
  readonly size: number
  clear(): void
}

export function createRuleGuards(): RuleGuards {
  const cooldown = createWindows(MAX_COOLDOWNS)
  const dedup = createWindows(MAX_DEDUP)
  return {
    cooldown,
    dedup,
    prune(now) {
      cooldown.prune(now)
      dedup.prune(now)
    },
  }
}

function createWindows(max: number): GuardWindows & { prune(now: number): void } {
  const ends = new Map<string, number>()
  /** No window ends before this, so that most prunings look at no entry. */
  let firstEnd = Number.POSITIVE_INFINITY
  const keepLatest = () => {
    const kept = [...ends].toSorted(([, a], [, b]) => b - a).slice(0, max)
    ends.clear()
    for (const [key, until] of kept) ends.set(key, until)
  }
  return {
    left: (key, now) => Math.max(0, (ends.get(key) ?? now) - now),
    arm(key, until) {
      ends.set(key, until)
      firstEnd = Math.min(firstEnd, until)
    },
    prune(now) {
      if (now >= firstEnd) {
        for (const [key, until] of ends) if (until <= now) ends.delete(key)
        firstEnd = earliestOf(ends)
      }
      if (ends.size > max) keepLatest()
    },
    get size() {
      return ends.size
    },
    clear() {
      ends.clear()
      firstEnd = Number.POSITIVE_INFINITY
    },
  }
}

function earliestOf(ends: ReadonlyMap<string, number>): number {
  let first = Number.POSITIVE_INFINITY
  for (const until of ends.values()) if (until < first) first = until
  return first
}

/** An action of a rule, for the event that it answers. */
export interface DedupSubject {
  readonly ruleId: string
  readonly actionId: string
  readonly event: HookChainEvent
  readonly scope?: string
}

/** Two events with the same payload have the same key; the order of keys does not matter. */
export function dedupKey({ ruleId, actionId, event, scope = '' }: DedupSubject): string {
  const { eventName, outcome, payload = {} } = event
  const coreIdentity = {
    ...{ eventName, outcome },
    taskId: firstText(payload, ['task_id', 'taskId']),
    toolUseId: firstText(payload, ['tool_use_id', 'toolUseId']),
    sessionId: firstText(payload, ['session_id', 'sessionId']),
    error: firstText(payload, ['error', 'reason']),
  }
  const eventIdentity = sha1(hookChainsJson({ coreIdentity, payload }))
  return sha1(hookChainsJson({ ruleId, actionId, eventIdentity, scope }))
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}

/**
 * JSON with sorted keys, as hook chains hash it: an object that occurs a second time is `[Circular]`, functions, symbols
 * and bigints are texts, and a value that cannot be read is `[unserializable]`.
 */
export function hookChainsJson(value: unknown): string {
  try {
    return JSON.stringify(sortedOnce(value, new Set())) ?? 'null'
  } catch {
    return '[unserializable]'
  }
}

function sortedOnce(value: unknown, seen: Set<object>): unknown {
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
    return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (seen.has(value)) return '[Circular]'
  seen.add(value)
  if (Array.isArray(value)) return value.map((item) => sortedOnce(item, seen))
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sortedOnce(item, seen)]))
}
