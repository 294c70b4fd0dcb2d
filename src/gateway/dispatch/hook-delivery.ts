import { randomUUID } from 'node:crypto'
import type { Envelope } from '../../engine/core/context.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import type { NewDelivery } from '../../store/stores/delivery-store.ts'
import type { WorkPlace } from '../tenancy/snapshot.ts'

export const HOOK_DELIVERY = 'hook'

/** One hook that runs after the answer, and all it needs for that. */
export interface HookDelivery {
  readonly hook: string
  readonly event: string
  readonly payload: unknown
  readonly envelope: Envelope
  /** Where its file is, if it stands in one. */
  readonly folder?: WorkPlace
}

/** One delivery per hook: each is tried again on its own. `folderOf` tells where the file of a hook is. */
export function hookDeliveries(
  observers: readonly HookDefinition[],
  moment: Omit<HookDelivery, 'hook' | 'folder'> & {
    readonly envelope: { readonly id: string; readonly tenant: string; readonly time?: number }
  },
  folderOf: (hook: string) => WorkPlace | undefined = () => undefined,
): readonly NewDelivery[] {
  const { envelope } = moment
  const now = envelope.time ?? 0
  return observers.map(({ id: hook = '' }) => ({
    id: randomUUID(),
    tenant: envelope.tenant,
    kind: HOOK_DELIVERY,
    dedup_key: `${hook}:${envelope.id}`,
    payload: JSON.stringify({ hook, ...moment, ...placed(folderOf(hook)) } satisfies HookDelivery),
    due_at: now,
    created_at: now,
  }))
}

function placed(folder: WorkPlace | undefined): { readonly folder?: WorkPlace } {
  return folder === undefined ? {} : { folder }
}
