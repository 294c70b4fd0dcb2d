import type { MergeResults } from '../../../core/event.ts'

/** The first error is final; otherwise one plugin that made the thread ready is enough. */
export const mergeSpawning: MergeResults = (before, next) => {
  if (before?.status === 'error') return before
  if (next.status === 'error') return next
  const deliveryOrigin = before?.deliveryOrigin ?? next.deliveryOrigin
  return {
    status: 'ok',
    threadBindingReady: Boolean(before?.threadBindingReady || next.threadBindingReady),
    ...(deliveryOrigin ? { deliveryOrigin } : {}),
  }
}

/** The first answer with an origin stays, whole. */
export const mergeDeliveryTarget: MergeResults = (before, next) => (before?.origin ? before : next)
