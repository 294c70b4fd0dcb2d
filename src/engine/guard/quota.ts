import type { Guard } from './guard.ts'
import { guardKey } from './guard-key.ts'

const TURN_MS = 3_600_000

/** At most `max_invocations_per_turn` runs in one turn of the agent. */
export const quota: Guard = (hook) => {
  const limit = hook.max_invocations_per_turn
  if (limit === undefined) return undefined
  return (_payload, context) => {
    const { tenant = '', session = '', run = '', turn = '' } = context.envelope
    // A turn has no end that we see, so its count is forgotten after an hour.
    return {
      kind: 'quota',
      key: guardKey(tenant, session, run, turn, hook.id ?? ''),
      limit,
      windowMs: TURN_MS,
    }
  }
}
