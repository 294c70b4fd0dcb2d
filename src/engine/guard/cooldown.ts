import { schema } from '../core/schema.ts'
import { DAY_MS, defineGuard } from './guard.ts'
import { guardKey } from './guard-key.ts'

/** A hook that fired waits `cooldown_ms` before it fires again. */
export const cooldown = defineGuard({
  fields: {
    cooldown_ms: schema.integer(0, DAY_MS, 'After it fired, the hook is skipped for this long.'),
  },
  question({ id = '', cooldown_ms: windowMs = 0 }) {
    if (windowMs === 0) return undefined
    return (_payload, { envelope }) => ({
      kind: 'cooldown',
      key: guardKey(envelope.tenant ?? '', id),
      windowMs,
    })
  },
})
