import { schema } from '../core/schema.ts'
import { defineGuard } from './guard.ts'
import { guardKey } from './guard-key.ts'

const TURN_MS = 3_600_000

/** At most `max_invocations_per_turn` runs in one turn of the agent. */
export const quota = defineGuard({
  fields: {
    max_invocations_per_turn: schema.integer(
      1,
      1_000_000,
      'How often the hook may run in one turn of the agent. A gate whose quota is used up fails.',
    ),
  },
  question({ id = '', max_invocations_per_turn: limit }) {
    if (limit === undefined) return undefined
    return (_payload, context) => {
      const { tenant = '', session = '', run = '', turn = '' } = context.envelope
      // The engine does not see a turn end, so its count is forgotten after an hour.
      return { kind: 'quota', key: guardKey(tenant, session, run, turn, id), limit, windowMs: TURN_MS }
    }
  },
})
