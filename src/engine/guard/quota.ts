import { schema } from '../core/schema/schema.ts'
import { countedTurn, countPerField, defineGuard, guardKey } from './guard.ts'

const TURN_MS = 3_600_000

/** Limits the runs of a hook in one turn of the agent to `max_invocations_per_turn`. */
export const quotaGuard = defineGuard({
  fields: {
    max_invocations_per_turn: schema.integer(
      1,
      1_000_000,
      'Runs in one turn of the agent at most; in an hour, if `count_per` names no session. A gate beyond it fails.',
    ),
    ...countPerField,
  },
  question({ id = '', max_invocations_per_turn: limit, count_per }) {
    if (limit === undefined) return undefined
    return (_payload, context) => {
      const { envelope } = context
      const key = guardKey(envelope.tenant ?? '', countedTurn(envelope, count_per), id)
      // The engine does not know when a turn ends, so the count expires after an hour.
      return { kind: 'quota', key, limit, windowMs: TURN_MS }
    }
  },
})
