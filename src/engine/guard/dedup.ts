import { createHash } from 'node:crypto'
import { schema } from '../core/schema/schema.ts'
import { stableJson } from '../core/values/stable-json.ts'
import { countedSubject, countPerField, DAY_MS, defineGuard, guardKey } from './guard.ts'

/** Skips a hook for an identical event within `dedup_window_ms`. */
export const dedupGuard = defineGuard({
  fields: {
    dedup_window_ms: schema.integer(0, DAY_MS, 'An identical event within this window is handled once.'),
    ...countPerField,
  },
  question({ id = '', dedup_window_ms: windowMs = 0, count_per = 'session' }) {
    if (windowMs === 0) return undefined
    return (payload, context) => {
      const { tenant = '' } = context.envelope
      const subject = countedSubject(context.envelope, count_per)
      const identity = createHash('sha256')
        .update(stableJson([context.event, subject, payload]))
        .digest('base64url')
      return { kind: 'dedup', key: guardKey(tenant, id, identity), windowMs }
    }
  },
})
