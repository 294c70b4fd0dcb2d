import type { GuardRequest, GuardState, Pass } from '../core/guard-state.ts'

const MAX_KEYS = 20_000
const DAY_MS = 86_400_000
const PASS: Pass = { pass: true }

interface Entry {
  until: number
  count: number
}

/** Guard state of one process. Bounded: when it is full the entries that end soonest go first. */
export function memoryGuardState(maxKeys: number = MAX_KEYS): GuardState {
  const entries = new Map<string, Entry>()
  return {
    take(requests, now) {
      const passes = requests.map((request) => check(request, entries.get(keyOf(request)), now))
      if (passes.every((pass) => pass.pass)) for (const request of requests) arm(request, entries, now)
      if (entries.size > maxKeys) prune(entries, now, maxKeys)
      return passes
    },
  }
}

function keyOf(request: GuardRequest): string {
  return `${request.kind === 'end_streak' ? 'streak' : request.kind}|${request.key}`
}

function check(request: GuardRequest, entry: Entry | undefined, now: number): Pass {
  if (request.kind === 'end_streak' || entry === undefined || entry.until <= now) {
    return request.kind === 'budget' && request.cost > request.limit ? spent(request.limit) : PASS
  }
  const left = entry.until - now
  switch (request.kind) {
    case 'cooldown':
      return { pass: false, code: 'guard.cooldown', skip: `cooldown: ${left} ms left` }
    case 'dedup':
      return { pass: false, code: 'guard.dedup', skip: `dedup window: ${left} ms left` }
    case 'quota':
      if (entry.count < request.limit) return PASS
      return {
        pass: false,
        code: 'guard.quota',
        skip: `quota: ${request.limit} of ${request.limit} used in this turn`,
      }
    case 'budget':
      return entry.count + request.cost <= request.limit ? PASS : spent(request.limit)
    case 'streak':
      if (entry.count < request.limit) return PASS
      return { pass: false, code: 'guard.streak', skip: `blocked ${request.limit} times in a row` }
  }
}

function spent(limit: number): Pass {
  return { pass: false, code: 'guard.budget', skip: `budget: ${limit} spent` }
}

function arm(request: GuardRequest, entries: Map<string, Entry>, now: number): void {
  const key = keyOf(request)
  if (request.kind === 'end_streak') {
    entries.delete(key)
    return
  }
  if (request.kind === 'cooldown' || request.kind === 'dedup') {
    entries.set(key, { until: now + request.windowMs, count: 1 })
    return
  }
  const cost = request.kind === 'budget' ? request.cost : 1
  const entry = entries.get(key)
  if (entry !== undefined && entry.until > now) entry.count += cost
  else entries.set(key, { until: endOf(request, now), count: cost })
}

function endOf(request: GuardRequest, now: number): number {
  if (request.kind === 'quota') return now + request.windowMs
  return request.kind === 'streak' ? now + DAY_MS : Number.MAX_SAFE_INTEGER
}

function prune(entries: Map<string, Entry>, now: number, maxKeys: number): void {
  for (const [key, entry] of entries) if (entry.until <= now) entries.delete(key)
  if (entries.size <= maxKeys) return
  const soonest = [...entries].sort(([, a], [, b]) => a.until - b.until)
  // A tenth more than needed, so that a full memory does not sort at every question.
  for (const [key] of soonest.slice(0, entries.size - maxKeys + Math.floor(maxKeys / 10))) entries.delete(key)
}
