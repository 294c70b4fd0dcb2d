import { randomUUID } from 'node:crypto'
import type { NewDelivery } from '../deliveries/delivery-table.ts'
import type { DeliverWork, DeliveryAttempt } from '../deliveries/delivery-worker.ts'
import { TRUSTED_LIMITS } from '../deliveries/delivery-worker.ts'
import type { Envelope } from '../engine/core/context.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { parseJson } from '../safe/json.ts'
import type { AgentFolders } from '../stored-hooks/snapshots/snapshot.ts'
import type { Snapshots } from '../stored-hooks/snapshots/snapshots.ts'
import { PendingDispatch } from './pending-dispatch.ts'
import type { Decided, RecordedEvent, RecordParts } from './with-record.ts'

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
  return observers.map(({ id: hook = '' }) => {
    const delivery: HookDelivery = { hook, ...cause, ...definedFields({ folder: folderOf(hook) }) }
    return {
      ...{ id: randomUUID(), tenant: envelope.tenant, kind: HOOK_DELIVERY },
      ...{ dedup_key: `${hook}:${envelope.id}`, payload: JSON.stringify(delivery) },
      created_at: envelope.time ?? 0,
    }
  })
}

/** How the execution of a queued hook ended, or why there was none. */
export type DeliveredHook = HookEnd | 'gone' | 'off' | 'missed'

interface HookEnd {
  readonly decision: string
  readonly code: string | undefined
  readonly reason: string | undefined
  readonly status: unknown
  readonly handlerType: string
}

interface QueuedHook extends RecordedEvent, Pick<HookDelivery, 'hook' | 'folder'> {
  readonly attempt: number
}

export type DeliverHook = (queued: QueuedHook) => Promise<DeliveredHook>

/**
 * Runs one queued hook. Its record is written before the delivery ends: after a crash in between, the delivery runs again and
 * the record is not lost.
 */
export function runQueuedHook({
  snapshots,
  audit,
}: Pick<RecordParts, 'audit'> & { readonly snapshots: Pick<Snapshots, 'of'> }): (
  queued: QueuedHook,
) => Promise<Decided<DeliveredHook>> {
  return async ({ hook, event, payload, envelope, folder, attempt }) => {
    const { tenant } = envelope
    const { find, hooks } = await snapshots.of(tenant, folder)
    const row = find(hook)
    const draft = new PendingDispatch(audit, { tenant, text: undefined, attempt, find })
    if (row?.enabled !== true) return { answer: row === undefined ? 'gone' : 'off', draft, write: 'queued' }
    const { trace } = await hooks.dispatch(event as 'session_end', payload as never, envelope, {
      only: hook,
      trace: true,
      sink: draft,
    })
    const execution = trace?.hooks.find((traced) => traced.hook === hook)?.executions[0]
    const { decision = '', code, reason, facts } = execution ?? {}
    const end = { decision, code, reason, status: facts?.http_status, handlerType: row.handler_type }
    return {
      ...{ answer: execution === undefined ? 'missed' : end, draft, write: 'attempted' },
      // The event itself has triggered its rules when it was dispatched.
      trigger: { decision: { kind: 'allow' }, folders: folder, hasHooks: true, isOnlyFailures: true },
    }
  }
}

/** Client errors are final, except for these three. */
const mayChange = new Set([408, 425, 429])

/** Runs a queued hook. Webhooks are retried; a failed command may have done half of its work. */
export function deliverHook(deliver: DeliverHook): DeliverWork {
  return async ({ tenant, payload, attempt }) => {
    // Parsed like the original request: large numbers keep their digits.
    const delivery = parseJson(payload, TRUSTED_LIMITS) as HookDelivery
    const envelope = { ...delivery.envelope, id: `${delivery.envelope.id ?? ''}`, tenant }
    const delivered = await deliver({ ...delivery, envelope, attempt })
    if (delivered === 'missed') return { end: 'done' }
    if (delivered === 'off') return { end: 'retry', error: 'the hook is switched off' }
    if (delivered === 'gone') return { end: 'dead', error: 'the hook was deleted' }
    return judged(delivered)
  }
}

function judged({ decision, code, reason, status, handlerType }: HookEnd): DeliveryAttempt {
  if (decision !== 'error' && decision !== 'timeout') return { end: 'done' }
  // An agent that did not start because the store failed is started again; its run has a key, so it starts once.
  const isUnstarted = handlerType === 'agent' && code === 'store.unavailable'
  if (handlerType !== 'http' && !isUnstarted) return { end: 'done' }
  const error = `${code ?? decision}: ${reason ?? 'no reason given'}`
  const isFinal = typeof status === 'number' && status >= 400 && status < 500 && !mayChange.has(status)
  return { end: isFinal ? 'dead' : 'retry', error }
}
