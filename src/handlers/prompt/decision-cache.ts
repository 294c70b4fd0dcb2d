import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../engine/core/clock.ts'
import { stableJson } from '../../engine/core/stable-json.ts'
import type { Decided } from './decide-answer.ts'

const TTL_MS = 60_000
const MAX_ENTRIES = 1_000

/** Parsed decisions, allow and block alike; never a failure. */
export interface DecisionCache {
  get(key: string): Decided | undefined
  set(key: string, decided: Decided): void
}

export function memoryDecisionCache(clock: Clock): DecisionCache {
  const entries = new LRUCache<string, Decided>({
    max: MAX_ENTRIES,
    ttl: TTL_MS,
    ttlResolution: 0,
    // Nought would mean "no start" to the cache.
    perf: { now: () => clock.elapsed() + 1 },
  })
  return {
    get: (key) => entries.get(key),
    set: (key, decided) => {
      entries.set(key, decided)
    },
  }
}

interface KeyParts {
  readonly tenant: string
  readonly hook: string
  readonly version: string
  readonly tool: string
  readonly input: unknown
}

/** Tenants never share a decision, nor do two versions of a hook. */
export function cacheKey({ tenant, hook, version, tool, input }: KeyParts): string {
  return createHash('sha256')
    .update(stableJson([tenant, hook, version, tool, input]))
    .digest('hex')
}
