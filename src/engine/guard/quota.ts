import { schema } from '../core/schema/schema.ts'
import { defineGuard, guardKey } from './guard.ts'

const TURN_MS = 3_600_000

/** Limits the runs of a hook in one turn of the agent to `max_invocations_per_turn`. */
export const quotaGuard = defineGuard({
  fields: {
    max_invocations_per_turn: schema.integer(
      1,
      1_000_000,
      'Runs in one turn of the agent at most. A gate beyond it fails.',
    ),
  },
  question({ id = '', max_invocations_per_turn: limit }) {
    if (limit === undefined) return undefined
    return (_payload, context) => {
      const { tenant = '', session = '', run = '', turn = '' } = context.envelope
      // The engine does not know when a turn ends, so the count expires after an hour.
      return { kind: 'quota', key: guardKey(tenant, session, run, turn, id), limit, windowMs: TURN_MS }
    }
  },
})
