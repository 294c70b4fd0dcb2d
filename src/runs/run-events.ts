import { randomUUID } from 'node:crypto'
import type { Clock } from '../engine/core/time/clock.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { createListeners } from '../engine/core/values/listeners.ts'
import type { RunHookPoint } from './hooks/run-hook-points.ts'
import type { NewRunEvent, RunEventRow, RunRow, RunStore } from './stored/run-tables.ts'

/** What a run hook did, as the events of a session say it. */
export interface RunHookFacts {
  readonly hook_type: RunHookPoint
  readonly target_type: string
  readonly target_name: string
  readonly duration_ms?: number
  readonly action?: 'continue' | 'block'
  readonly error?: string
  readonly on_error_behavior?: 'block' | 'continue'
  readonly block_reason?: string
  readonly hook_session_id?: string
  /** The fields that the hook changed, with what it got and what it made of it. */
  readonly changed_fields?: readonly string[]
  readonly original?: unknown
  readonly changed?: unknown
}

/** The type of the events that hold the messages of a model. They are no progress, so lists show them only if asked. */
export const MESSAGES_EVENT = 'messages'

export type RunHookEventType = 'hook_start' | 'hook_complete' | 'hook_failed' | 'hook_blocked'

/** The session and run that an event belongs to. */
export type EventOwner = Pick<RunRow, 'tenant_id' | 'session_id' | 'run_id'>

/** Writes the events of sessions, and tells this node about them. */
export interface RunEvents {
  append(owner: EventOwner, events: readonly NewSessionEvent[]): Promise<void>
  /** Deletes a session, which is an event too. False if it is busy, or not there. */
  deleteSession(tenant: string, sessionId: string): Promise<boolean>
  /** Calls the listener after this node has written events; returns its undo. */
  onAppended(listener: () => void): () => void
}

export interface NewSessionEvent {
  readonly event_type: string
  readonly data: Readonly<Record<string, unknown>>
  /** A repeated append with the same id writes one event. */
  readonly event_id?: string
}

export function createRunEvents(
  store: Pick<RunStore, 'appendRunEvents' | 'deleteRunSession'>,
  clock: Clock,
): RunEvents {
  const { on: onAppended, notify } = createListeners()
  return {
    async append({ tenant_id, session_id, run_id }, events) {
      const rows = events.map(
        ({ event_type, data, event_id = randomUUID() }): NewRunEvent => ({
          ...{ event_id, tenant_id, session_id, run_id, event_type, data },
          created_at: clock.now(),
        }),
      )
      await store.appendRunEvents(rows)
      void notify()
    },
    async deleteSession(tenant, sessionId) {
      const isDeleted = await store.deleteRunSession(tenant, sessionId)
      if (isDeleted) void notify()
      return isDeleted
    },
    onAppended,
  }
}

export function hookEvent(
  event_type: RunHookEventType,
  facts: RunHookFacts,
  event_id?: string,
): NewSessionEvent {
  return { event_type, data: definedFields({ ...facts }), ...definedFields({ event_id }) }
}

/** The events of a run that ended. Their ids follow from the run, so that a repeated sweep adds none. */
export function endEvents({ run_id, status, error }: RunRow, session: string): NewSessionEvent[] {
  return [
    {
      event_id: `${run_id}-${status}`,
      event_type: `run_${status}`,
      data: { status, ...(error === null ? {} : { error }) },
    },
    { event_id: `${run_id}-session-${status}`, event_type: 'session_updated', data: { status: session } },
  ]
}

/** The result of a run as hooks and callers see it. */
export interface RunResult {
  readonly result_text: string | null
  readonly result_data: unknown
}

export const noResult: RunResult = { result_text: null, result_data: null }

const PAGE = 500

/** The last result of a session, or of one run in it. */
export async function findResult(
  store: Pick<RunStore, 'listRunEvents'>,
  { tenant_id, session_id }: Pick<RunRow, 'tenant_id' | 'session_id'>,
  runId?: string,
): Promise<RunResult | undefined> {
  let found: RunEventRow | undefined
  let after: string | undefined
  for (;;) {
    const page = { limit: PAGE, ...definedFields({ after }) }
    const rows: readonly RunEventRow[] = await store.listRunEvents(tenant_id, { session_id }, page)
    const isOfRun = (row: RunEventRow) => runId === undefined || row.run_id === runId
    found = rows.findLast((row) => row.event_type === 'result' && isOfRun(row)) ?? found
    after = rows.at(-1)?.position
    if (rows.length < PAGE || after === undefined) break
  }
  return found?.data ? readResultData(found.data) : undefined
}

/** The result in the data of a `result` event. */
export function readResultData({ result_text, result_data = null }: NewSessionEvent['data']): RunResult {
  return { result_text: typeof result_text === 'string' ? result_text : null, result_data }
}
