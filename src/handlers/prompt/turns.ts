import { LRUCache } from 'lru-cache'
import type { HookContext } from '../../engine/core/context.ts'
import { callerKey, callerTurn } from '../../engine/core/context.ts'
import { errorText, HookError } from '../../engine/core/errors/error.ts'
import type { GuardState, Pass } from '../../engine/core/guard-state.ts'
import type { Clock } from '../../engine/core/time/clock.ts'

/** The end of a turn is not reported, so its count expires after an hour. */
const TURN_MS = 3_600_000
const MAX_TURNS = 10_000

/** Counts all prompt hooks of a turn together. Without a turn or a known process nothing is counted. */
export async function countTurn(
  turns: GuardState,
  { envelope }: HookContext,
  { limit, now }: { limit: number; now: number },
): Promise<void> {
  if (envelope.turn === undefined && envelope.process === undefined) return
  const { tenant = '' } = envelope
  const key = JSON.stringify(['prompt', tenant, callerKey(envelope) ?? '', callerTurn(envelope)])
  let pass: Pass | undefined
  try {
    ;[pass] = await turns.take([{ kind: 'quota', key, limit, windowMs: TURN_MS }], now)
  } catch (thrown) {
    throw new HookError('guard.state', `the turn cannot be counted: ${errorText(thrown)}`, { cause: thrown })
  }
  if (pass === undefined || pass.pass) return
  throw new HookError('guard.quota', `hook invocation per-turn cap reached: ${limit} in one turn`)
}

/** Counts in memory, for one process. */
export function memoryTurns(clock: Clock): GuardState {
  const counts = new LRUCache<string, number>({
    max: MAX_TURNS,
    ttl: TURN_MS,
    noUpdateTTL: true,
    ttlResolution: 0,
    perf: { now: () => clock.elapsed() + 1 },
  })
  return {
    take: (requests) =>
      requests.map((request) => {
        const count = counts.get(request.key) ?? 0
        const limit = 'limit' in request ? request.limit : 0
        if (count >= limit) return { pass: false, code: 'guard.quota', skip: `quota: ${limit} used` }
        counts.set(request.key, count + 1)
        return { pass: true }
      }),
  }
}
