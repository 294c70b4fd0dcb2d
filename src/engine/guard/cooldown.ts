import type { Guard } from './guard.ts'
import { guardKey } from './guard-key.ts'

/** A hook that fired waits `cooldown_ms` before it fires again. */
export const cooldown: Guard = (hook) => {
  const windowMs = hook.cooldown_ms ?? 0
  if (windowMs === 0) return undefined
  return (_payload, context) => ({
    kind: 'cooldown',
    key: guardKey(context.envelope.tenant ?? '', hook.id ?? ''),
    windowMs,
  })
}
