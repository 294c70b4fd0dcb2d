import { randomUUID } from 'node:crypto'
import type { Envelope } from '../../engine/core/context.ts'
import type { HookDefinition } from '../../engine/core/hook.ts'
import type { NewDelivery } from '../../store/stores/delivery-store.ts'

export const HOOK_DELIVERY = 'hook'

/** One hook that runs after the answer, and all it needs for that. */
export interface HookDelivery {
  readonly hook: string
  readonly event: string
  readonly payload: unknown
  readonly envelope: Envelope
  /** Where its file is, if it stands in one. */
  readonly folder?: string
}

/** One delivery per hook: each is tried again on its own. */
export function hookDeliveries(
  observers: readonly HookDefinition[],
  moment: Omit<HookDelivery, 'hook'> & {
    readonly envelope: { readonly id: string; readonly tenant: string; readonly time?: number }
  },
): readonly NewDelivery[] {
  const { envelope } = moment
  const now = envelope.time ?? 0
  return observers.map(({ id: hook = '' }) => ({
    id: randomUUID(),
    tenant: envelope.tenant,
    kind: HOOK_DELIVERY,
    dedup_key: `${hook}:${envelope.id}`,
    payload: JSON.stringify({ hook, ...moment } satisfies HookDelivery),
    due_at: now,
    created_at: now,
  }))
}
