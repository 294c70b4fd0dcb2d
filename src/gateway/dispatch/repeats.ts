import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../engine/core/clock.ts'
import type { Envelope } from '../../engine/core/context.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { stableJson } from '../../engine/core/stable-json.ts'
import type { Store } from '../../store/store.ts'
import type { KeptAnswer } from '../../store/stores/audit-store.ts'
import type { DispatchAnswer } from './dispatcher.ts'

const DAY_MS = 86_400_000
const MAX_REMEMBERED = 20_000
const REMEMBERED_MS = 600_000

/** A request that may come twice: a network that failed after the answer was found is no second event. */
export interface Repeatable {
  readonly tenant: string
  readonly key: string
  readonly hash: string
}

export interface Repeats {
  /** Runs it once, whoever else asks the same meanwhile or soon after on this node. */
  once(what: Repeatable, run: () => Promise<DispatchAnswer>): Promise<DispatchAnswer>
  /** The answer that any node kept. */
  kept(what: Repeatable): Promise<DispatchAnswer | undefined>
}

/** What makes two requests the same: everything that a hook can see, so that nobody gets an answer meant for another. */
export function identityOf(event: string, payload: unknown, envelope: Envelope): string {
  const { id: _, time, traceparent, raw, ...seen } = envelope
  return createHash('sha256')
    .update(stableJson([event, payload, seen]))
    .digest('hex')
}

export function toKeep(what: Repeatable, json: string, now: number): KeptAnswer {
  const { tenant, key, hash } = what
  return { tenant, key, request_hash: hash, answer: json, expires_at: now + DAY_MS }
}

export function createRepeats(store: Pick<Store, 'findAnswer'>, clock: Clock): Repeats {
  const remembered = new LRUCache<string, { hash: string; answer: Promise<DispatchAnswer> }>({
    max: MAX_REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 1_000,
    // Nought would mean "no start" to the cache.
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
      // What failed was no answer, and may be asked again; nor is a gate that was closed only for want of an answer.
      const forget = () => remembered.delete(name)
      answer.then(({ decision }) => isMakeshift(decision) && forget(), forget)
      return answer
    },
    async kept(what) {
      const found = await store.findAnswer(what.tenant, what.key, clock.now())
      if (found === undefined) return undefined
      requireSame(found.request_hash, what)
      const { event_id, decision } = JSON.parse(found.answer)
      return { eventId: event_id, decision, json: found.answer }
    },
  }
}

function isMakeshift({ code, by }: Decision): boolean {
  return code === 'engine.aborted' || (code === 'store.unavailable' && by === undefined)
}

function requireSame(hash: string, what: Repeatable): void {
  if (hash !== what.hash)
    throw serverError('gateway.conflict', `${what.key} was used for another event within the last day`)
}
