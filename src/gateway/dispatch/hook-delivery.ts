import { randomUUID } from 'node:crypto'
import type { Envelope } from '../../engine/core/context.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import type { NewDelivery } from '../../store/stores/delivery-store.ts'
import type { AgentFolders } from '../tenancy/snapshot.ts'

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
  const now = envelope.time ?? 0
  return observers.map(({ id: hook = '' }) => ({
    id: randomUUID(),
    tenant: envelope.tenant,
    kind: HOOK_DELIVERY,
    dedup_key: `${hook}:${envelope.id}`,
    payload: JSON.stringify({ hook, ...cause, ...withFolder(folderOf(hook)) } satisfies HookDelivery),
    due_at: now,
    created_at: now,
  }))
}

function withFolder(folder: AgentFolders | undefined): { readonly folder?: AgentFolders } {
  return folder === undefined ? {} : { folder }
}
