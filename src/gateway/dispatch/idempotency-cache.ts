import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../engine/core/clock.ts'
import type { Envelope } from '../../engine/core/context.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { stableJson } from '../../engine/core/stable-json.ts'
import { parseStoredJson } from '../../safe/json.ts'
import type { Store } from '../../store/store.ts'
import type { NewAnswer } from '../../store/stores/audit-store.ts'
import type { DispatchAnswer } from './dispatcher.ts'

export const KEPT_ANSWER_MS = 86_400_000
const MAX_REMEMBERED = 20_000
const REMEMBERED_MS = 600_000

/** A request that a caller may repeat, for example because the network failed before the answer arrived. */
export interface IdempotentRequest {
  readonly tenant: string
  readonly key: string
  readonly hash: string
}

export interface IdempotencyCache {
  /** Runs a request once. Repetitions on this node, at the same time or soon after, get the same answer. */
  once(what: IdempotentRequest, run: () => Promise<DispatchAnswer>): Promise<DispatchAnswer>
  /** The answer that any node stored. */
  kept(what: IdempotentRequest): Promise<DispatchAnswer | undefined>
}

/** Hashes everything that a hook can see. Two requests with the same key must have the same hash. */
export function requestHash(event: string, payload: unknown, envelope: Envelope): string {
  const { id: _, time, traceparent, raw, ...seen } = envelope
  return createHash('sha256')
    .update(stableJson([event, payload, seen]))
    .digest('hex')
}

export function keptAnswerOf(what: IdempotentRequest, json: string): NewAnswer {
  const { tenant, key, hash } = what
  return { tenant, key, request_hash: hash, answer: json, keep_ms: KEPT_ANSWER_MS }
}

export function createIdempotencyCache(store: Pick<Store, 'findAnswer'>, clock: Clock): IdempotencyCache {
  const remembered = new LRUCache<string, { hash: string; answer: Promise<DispatchAnswer> }>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 1_000,
    // The cache treats 0 as no start time.
    perf: { now: () => clock.elapsed() + 1 },
  })
  return {
    once(what, run) {
      const name = JSON.stringify([what.tenant, what.key])
      const known = remembered.get(name)
      if (known !== undefined) {
        requireSame(known.hash, what)
        return known.answer
      }
      const answer = run()
      remembered.set(name, { hash: what.hash, answer })
      // A failure is not an answer, and neither is a gate that blocked without a decision. Both may be retried.
      const forget = () => remembered.delete(name)
      answer.then(({ decision }) => isProvisional(decision) && forget(), forget)
      return answer
    },
    async kept(what) {
      const found = await store.findAnswer(what.tenant, what.key)
      if (found === undefined) return undefined
      requireSame(found.request_hash, what)
      const { event_id, decision } = parseStoredJson(found.answer) as { event_id: string; decision: Decision }
      return { eventId: event_id, decision, json: found.answer }
    },
  }
}

function isProvisional({ code, by }: Decision): boolean {
  return code === 'engine.aborted' || (code === 'store.unavailable' && by === undefined)
}

function requireSame(hash: string, what: IdempotentRequest): void {
  if (hash !== what.hash)
    throw serverError('gateway.conflict', `${what.key} was used for another event within the last day`)
}
