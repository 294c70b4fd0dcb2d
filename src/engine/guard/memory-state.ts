import type { GuardState } from '../core/guard-state.ts'
import { armEntry, checkEntry, entryKey, type GuardEntry } from './guard-entry.ts'

const MAX_KEYS = 20_000

/** Creates guard state in memory, for one process. Above `maxKeys` entries it drops those that expire first. */
export function memoryGuardState(maxKeys: number = MAX_KEYS): GuardState {
  const entries = new Map<string, GuardEntry>()
  return {
    take(requests, now) {
      const passes = requests.map((request) => checkEntry(request, entries.get(entryKey(request)), now))
      if (passes.every((pass) => pass.pass))
        for (const request of requests) {
          const key = entryKey(request)
          const entry = armEntry(request, entries.get(key), now)
          if (entry === undefined) entries.delete(key)
          else entries.set(key, entry)
        }
      if (entries.size > maxKeys) prune(entries, now, maxKeys)
      return passes
    },
  }
}

function prune(entries: Map<string, GuardEntry>, now: number, maxKeys: number): void {
  for (const [key, entry] of entries) if (entry.until <= now) entries.delete(key)
  if (entries.size <= maxKeys) return
  const soonest = [...entries].sort(([, a], [, b]) => a.until - b.until)
  // Drops a tenth more than needed, so that full memory does not sort at every request.
  for (const [key] of soonest.slice(0, entries.size - maxKeys + Math.floor(maxKeys / 10))) entries.delete(key)
}
