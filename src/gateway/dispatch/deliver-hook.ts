import type { Attempt, Deliver } from '../../delivery/worker.ts'
import type { Delivered, EventDispatcher } from './dispatch-events.ts'
import type { HookDelivery } from './hook-delivery.ts'

/** Answers of a receiver that will not change, however often it is asked; these three may. */
const mayChange = new Set([408, 425, 429])

/** Runs a queued hook. Only webhooks are tried again: a command that failed may well have done half its work. */
export function deliverHook(dispatcher: EventDispatcher): Deliver {
  return async ({ tenant, payload, attempt }) => {
    const delivery: HookDelivery = JSON.parse(payload)
    const delivered = await dispatcher.deliver(tenant, delivery, attempt)
    return delivered === undefined ? { end: 'done' } : judged(delivered)
  }
}

function judged({ decision, code, reason, status, handlerType }: Delivered): Attempt {
  if (decision !== 'error' && decision !== 'timeout') return { end: 'done' }
  if (handlerType !== 'http') return { end: 'done' }
  const error = `${code ?? decision}: ${reason ?? 'no reason given'}`
  const isFinal = typeof status === 'number' && status >= 400 && status < 500 && !mayChange.has(status)
  return { end: isFinal ? 'dead' : 'retry', error }
}
