import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Envelope } from '../engine/core/context.ts'
import type { Decision } from '../engine/core/decision.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import { stableJson } from '../engine/core/values/stable-json.ts'
import type { NewAnswer } from '../history/audit-tables.ts'
import { parseStoredJson } from '../safe/json.ts'
import type { Store } from '../store/store.ts'
import type { Call, HandleCall } from './call.ts'
import { answerOf, type DispatchAnswer } from './dispatch-answer.ts'

export const KEPT_ANSWER_MS = 86_400_000
const MAX_REMEMBERED = 20_000
const REMEMBERED_MS = 600_000

/** Names a request that a caller may repeat, for example because the network failed before the answer arrived. */
export interface IdempotencyKey {
  readonly tenant: string
  readonly key: string
  /** Covers everything that a hook can see. Two requests with the same key must have the same hash. */
  readonly hash: string
  /** The answer is stored, so that any node gives it again. Without it, only a question is. */
  readonly isDurable: boolean
  /** The gateway found the key. If it was used for another event, this one is new. */
  readonly isFound?: true
}

export function requestHash(event: string, payload: unknown, envelope: Envelope): string {
  const { id: _, time, traceparent, raw, ...seen } = envelope
  return createHash('sha256')
    .update(stableJson([event, payload, seen]))
    .digest('hex')
}

/** The answer to store with the record of a call. A caller that waits for a person may lose its connection and send the call again. */
export function answersToKeep(call: Call, { decision, json, eventId }: DispatchAnswer): readonly NewAnswer[] {
  const isQuestion = decision.kind === 'ask'
  const own = isQuestion && call.context.wait !== undefined ? ownKey(call, eventId) : undefined
  const key = call.key?.isDurable === true || isQuestion ? (call.key ?? own) : undefined
  if (key === undefined) return []
  return [{ tenant: key.tenant, key: key.key, request_hash: key.hash, answer: json, keep_ms: KEPT_ANSWER_MS }]
}

function ownKey({ event, payload, envelope }: Call, key: string) {
  return { tenant: envelope.tenant, key, hash: requestHash(event, payload, envelope) }
}

/**
 * Passes a call with a key on once. Repetitions on this node, at the same time or soon after, get the same answer, and those
 * of any node get the answer that was stored.
 */
export function oncePerKey(
  { store, clock }: { readonly store: Pick<Store, 'findAnswer'>; readonly clock: Clock },
  next: HandleCall,
): HandleCall {
  const remembered = new LRUCache<string, { hash: string; answer: Promise<DispatchAnswer> }>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 1_000,
    // The cache treats 0 as no start time.
    perf: { now: () => clock.elapsed() + 1 },
  })
  const storedOrNew = async (call: Call, key: IdempotencyKey, name: string): Promise<DispatchAnswer> => {
    const found = key.isDurable ? await store.findAnswer(key.tenant, key.key) : undefined
    if (found === undefined) return next(call)
    if (found.request_hash !== key.hash) {
      remembered.delete(name)
      return useAgain(call, key)
    }
    const { event_id, decision } = parseStoredJson(found.answer) as { event_id: string; decision: Decision }
    return answerOf(event_id, decision, found.answer)
  }
  const useAgain = async (call: Call, { key, isFound }: IdempotencyKey): Promise<DispatchAnswer> => {
    if (isFound) return next({ ...call, key: undefined })
    throw serverError('gateway.conflict', `${key} was used for another event within the last day`)
  }

  return (call) => {
    const { key } = call
    if (key === undefined) return next(call)
    const name = JSON.stringify([key.tenant, key.key])
    const known = remembered.get(name)
    if (known !== undefined) return known.hash === key.hash ? known.answer : useAgain(call, key)
    // Callers that repeat the call wait for the same answer, so one of them alone cannot abort it.
    const { signal: _, ...lasting } = call.context
    const answer = storedOrNew({ ...call, context: lasting }, key, name)
    remembered.set(name, { hash: key.hash, answer })
    // A failure is not an answer, and neither is a gate that blocked without a decision. Both may be retried.
    const forget = () => remembered.delete(name)
    answer.then(({ decision }) => isProvisional(decision) && forget(), forget)
    return answer
  }
}

function isProvisional({ code, by }: Decision): boolean {
  return code === 'engine.aborted' || (code === 'store.unavailable' && by === undefined)
}
