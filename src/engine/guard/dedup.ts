import { createHash } from 'node:crypto'
import { stableJson } from '../core/stable-json.ts'
import type { Guard } from './guard.ts'
import { guardKey } from './guard-key.ts'

/** An identical event within `dedup_window_ms` is handled once. */
export const dedup: Guard = (hook) => {
  const windowMs = hook.dedup_window_ms ?? 0
  if (windowMs === 0) return undefined
  return (payload, context) => {
    const { tenant = '', session = '' } = context.envelope
    const identity = createHash('sha256')
      .update(stableJson([context.event, session, payload]))
      .digest('base64url')
    return { kind: 'dedup', key: guardKey(tenant, hook.id ?? '', identity), windowMs }
  }
}
