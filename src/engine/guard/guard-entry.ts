import type { GuardRequest, Pass } from '../core/guard-state.ts'
import { DAY_MS } from './guard.ts'

const PASS: Pass = { pass: true }

/** The state of a guard under one key, in memory or in a database. */
export interface GuardEntry {
  readonly until: number
  readonly count: number
}

/** The key of the entry that a request reads and writes. */
export function entryKey(request: GuardRequest): string {
  return `${request.kind === 'end_streak' ? 'streak' : request.kind}|${request.key}`
}

/** Checks a request against the entry of its key. */
export function checkEntry(request: GuardRequest, entry: GuardEntry | undefined, now: number): Pass {
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

/** The entry to store after a request passed; undefined to delete it. */
export function armEntry(
  request: GuardRequest,
  entry: GuardEntry | undefined,
  now: number,
): GuardEntry | undefined {
  if (request.kind === 'end_streak') return undefined
  if (request.kind === 'cooldown' || request.kind === 'dedup')
    return { until: now + request.windowMs, count: 1 }
  const cost = request.kind === 'budget' ? request.cost : 1
  if (entry !== undefined && entry.until > now) return { until: entry.until, count: entry.count + cost }
  return { until: endOf(request, now), count: cost }
}

function endOf(request: GuardRequest, now: number): number {
  if (request.kind === 'quota') return now + request.windowMs
  return request.kind === 'streak' ? now + DAY_MS : Number.MAX_SAFE_INTEGER
}
