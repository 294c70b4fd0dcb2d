import { randomUUID } from 'node:crypto'
import type { DeliverWork, DeliveryAttempt } from '../../delivery/delivery-worker.ts'
import type { Envelope } from '../../engine/core/context.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { parseJson } from '../../safe/json.ts'
import type { NewDelivery } from '../../store/stores/delivery-store.ts'
import type { AgentFolders } from '../tenancy/snapshot.ts'
import type { DeliveredHook, EventDispatcher } from './dispatcher.ts'

export const HOOK_DELIVERY = 'hook'

/** One hook that runs after the answer, with everything that it needs. */
export interface HookDelivery {
  readonly hook: string
  readonly event: string
  readonly payload: unknown
  readonly envelope: Envelope
  /** The folders of its hook file, if it has one. */
  readonly folder?: AgentFolders
}

/** Makes one delivery per hook, so that each is retried on its own. `folderOf` returns the folders of a hook's file. */
export function hookDeliveries(
  observers: readonly HookDefinition[],
  cause: Omit<HookDelivery, 'hook' | 'folder'> & {
    readonly envelope: { readonly id: string; readonly tenant: string; readonly time?: number }
  },
  folderOf: (hook: string) => AgentFolders | undefined = () => undefined,
): readonly NewDelivery[] {
  const { envelope } = cause
  return observers.map(({ id: hook = '' }) => ({
    id: randomUUID(),
    tenant: envelope.tenant,
    kind: HOOK_DELIVERY,
    dedup_key: `${hook}:${envelope.id}`,
    payload: JSON.stringify({ hook, ...cause, ...withFolder(folderOf(hook)) } satisfies HookDelivery),
    created_at: envelope.time ?? 0,
  }))
}

function withFolder(folder: AgentFolders | undefined): { readonly folder?: AgentFolders } {
  return folder === undefined ? {} : { folder }
}

/** Client errors are final, except for these three. */
const mayChange = new Set([408, 425, 429])

/** Trusted: the gateway wrote it around an event that it had checked. */
const LIMITS = { maxBytes: 64 * 1_048_576, maxDepth: 256, maxKeys: 1_000_000 }

/** Runs a queued hook. Webhooks are retried; a failed command may have done half of its work. */
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
  // An agent that did not start because the store failed is started again; its run has a key, so it starts once.
  const isUnstarted = handlerType === 'agent' && code === 'store.unavailable'
  if (handlerType !== 'http' && !isUnstarted) return { end: 'done' }
  const error = `${code ?? decision}: ${reason ?? 'no reason given'}`
  const isFinal = typeof status === 'number' && status >= 400 && status < 500 && !mayChange.has(status)
  return { end: isFinal ? 'dead' : 'retry', error }
}
