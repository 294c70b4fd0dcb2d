import type { Selectable } from 'kysely'
import type { ExecutionRow } from '../../stores/audit-store.ts'
import type { Codec } from '../database.ts'
import { oneOf } from '../one-of.ts'
import type { Tables } from '../tables.ts'

/** What of an execution is shown. */
export const shown = [
  ...(['position', 'id', 'tenant_id', 'hook_id', 'event_id', 'event', 'handler_type', 'session_id'] as const),
  ...(['agent_id', 'input_hash', 'decision', 'duration_ms', 'retry', 'dedup_key', 'code', 'error'] as const),
  ...(['shadow', 'metadata', 'created_at'] as const),
] as const

const decisions = ['allow', 'ask', 'block', 'error', 'timeout', 'skipped', 'late', 'aborted'] as const

export type ShownRow = Pick<Selectable<Tables['hook_executions']>, (typeof shown)[number]>

export function readExecution(codec: Codec, { position: _, ...row }: ShownRow): ExecutionRow {
  const metadata = codec.readJson(row.metadata)
  return {
    ...row,
    decision: oneOf(decisions, row.decision),
    shadow: Boolean(row.shadow),
    metadata: typeof metadata === 'object' ? { ...metadata } : {},
  }
}
