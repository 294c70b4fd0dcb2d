import { createHash } from 'node:crypto'
import { schema } from '../core/schema/schema.ts'
import { stableJson } from '../core/values/stable-json.ts'
import { DAY_MS, defineGuard, guardKey } from './guard.ts'

/** Skips a hook for an identical event within `dedup_window_ms`. */
export const dedupGuard = defineGuard({
  fields: {
    dedup_window_ms: schema.integer(0, DAY_MS, 'An identical event within this window is handled once.'),
  },
  question({ id = '', dedup_window_ms: windowMs = 0 }) {
    if (windowMs === 0) return undefined
    return (payload, context) => {
      const { tenant = '', session = '' } = context.envelope
      const identity = createHash('sha256')
        .update(stableJson([context.event, session, payload]))
        .digest('base64url')
      return { kind: 'dedup', key: guardKey(tenant, id, identity), windowMs }
    }
  },
})
