import type { Guard } from './guard.ts'
import { guardKey } from './guard-key.ts'

/** Draws on a named budget that hooks of one tenant share. */
export const budget: Guard = (hook) => {
  const drawn = hook.budget
  if (drawn === undefined) return undefined
  const { name, limit, cost = 1 } = drawn
  return (_payload, context) => ({
    kind: 'budget',
    key: guardKey(context.envelope.tenant ?? '', name),
    cost,
    limit,
  })
}
