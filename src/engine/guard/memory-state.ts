import type { GuardState } from '../core/guard-state.ts'
import { armEntry, checkEntry, entryKey, type GuardEntry } from './guard-entry.ts'

const MAX_KEYS = 20_000

/** Guard state of one process. Bounded: when it is full the entries that end soonest go first. */
export function memoryGuardState(maxKeys: number = MAX_KEYS): GuardState {
  const entries = new Map<string, GuardEntry>()
  return {
    take(requests, now) {
      const passes = requests.map((request) => checkEntry(request, entries.get(entryKey(request)), now))
      if (passes.every((pass) => pass.pass))
        for (const request of requests) {
          const key = entryKey(request)
          const armed = armEntry(request, entries.get(key), now)
          if (armed === undefined) entries.delete(key)
          else entries.set(key, armed)
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
  // A tenth more than needed, so that a full memory does not sort at every question.
  for (const [key] of soonest.slice(0, entries.size - maxKeys + Math.floor(maxKeys / 10))) entries.delete(key)
}
