import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../engine/core/time/clock.ts'
import { stableJson } from '../../engine/core/values/stable-json.ts'
import type { ModelDecision } from './decide.ts'

const TTL_MS = 60_000
const MAX_ENTRIES = 1_000

/** Decisions of models, allow and block alike. Failures are never cached. */
export interface DecisionCache {
  get(key: string): ModelDecision | undefined
  set(key: string, decided: ModelDecision): void
}

export function memoryDecisionCache(clock: Clock): DecisionCache {
  const entries = new LRUCache<string, ModelDecision>({
    max: MAX_ENTRIES,
    ttl: TTL_MS,
    ttlResolution: 0,
    // The cache takes 0 for "no start time".
    perf: { now: () => clock.elapsed() + 1 },
  })
  return {
    get: (key) => entries.get(key),
    set: (key, decided) => {
      entries.set(key, decided)
    },
  }
}

/** Neither two tenants nor two versions of a hook share a decision. */
export function decisionKey(
  ...parts: [tenant: string, hook: string, version: string, tool: string, input: unknown]
): string {
  return hash('sha256', stableJson(parts))
}
