import { schema } from '../core/schema/schema.ts'
import { countedSubject, countPerField, DAY_MS, defineGuard, guardKey } from './guard.ts'

/** Skips a hook for `cooldown_ms` after it fired. */
export const cooldownGuard = defineGuard({
  fields: {
    cooldown_ms: schema.integer(0, DAY_MS, 'After it fired, the hook is skipped for this long.'),
    ...countPerField,
  },
  question({ id = '', cooldown_ms: windowMs = 0, count_per }) {
    if (windowMs === 0) return undefined
    return (_payload, { envelope }) => ({
      kind: 'cooldown',
      key: guardKey(envelope.tenant ?? '', id, ...(count_per ? [countedSubject(envelope, count_per)] : [])),
      windowMs,
    })
  },
})
