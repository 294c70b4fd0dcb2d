import type { DeliverWork, DeliveryAttempt } from '../../delivery/delivery-worker.ts'
import { parseJson } from '../../safe/json.ts'
import type { DeliveredHook, EventDispatcher } from './dispatcher.ts'
import type { HookDelivery } from './hook-delivery.ts'

/** Client errors are final, except for these three. */
const mayChange = new Set([408, 425, 429])

/** Trusted: the gateway wrote it around an event that it had checked. */
const LIMITS = { maxBytes: 64 * 1_048_576, maxDepth: 256, maxKeys: 1_000_000 }

/** Runs a queued hook. Only webhooks are retried: a failed command may have done half of its work. */
export function deliverHook(dispatcher: EventDispatcher): DeliverWork {
  return async ({ tenant, payload, attempt }) => {
    // Parsed like the original request: large numbers keep their digits.
    const delivery = parseJson(payload, LIMITS) as HookDelivery
    const delivered = await dispatcher.deliver(tenant, delivery, attempt)
    if (delivered === 'missed') return { end: 'done' }
    if (delivered === 'off') return { end: 'retry', error: 'the hook is switched off' }
    if (delivered === 'gone') return { end: 'dead', error: 'the hook was deleted' }
    return judged(delivered)
  }
}

function judged({ decision, code, reason, status, handlerType }: DeliveredHook): DeliveryAttempt {
  if (decision !== 'error' && decision !== 'timeout') return { end: 'done' }
  if (handlerType !== 'http') return { end: 'done' }
  const error = `${code ?? decision}: ${reason ?? 'no reason given'}`
  const isFinal = typeof status === 'number' && status >= 400 && status < 500 && !mayChange.has(status)
  return { end: isFinal ? 'dead' : 'retry', error }
}
