import { hash } from 'node:crypto'
import { stableJson } from '../../../engine/core/stable-json.ts'
import type { Secrets } from '../../../safe/secret.ts'
import { timeUuid } from '../../../safe/time-uuid.ts'
import { answerPlace, errorDetailPlace, eventPlace, payloadPlace } from '../../paths.ts'
import type { EventRecord, ExecutionRecord, KeptAnswer } from '../../stores/audit-store.ts'
import type { NewDelivery } from '../../stores/delivery-store.ts'
import type { Links } from './audit-chain.ts'
import type { NewEntry } from './journal.ts'

/** A group of dispatches as it is written: sealed, hashed, with ids. Sessions are counted by what was inserted. */
export interface AuditGroup {
  readonly events: readonly SealedEvent[]
  readonly executions: readonly SealedExecution[]
  readonly links: Links
  /** The journal entry it stood in; removed with it. When that is gone, somebody else has written the group. */
  readonly entry: number
}

/** What is written at once: the journal entry, and what others must find now. */
export interface AppendedGroup {
  readonly entry: NewEntry | undefined
  readonly deliveries: readonly SealedDelivery[]
  readonly answers: readonly SealedAnswer[]
  /** Answers that ended by then give way to new ones. */
  readonly now: number
}

export interface SealedEvent {
  readonly tenant_id: string
  readonly event_id: string
  readonly event: string
  readonly session_id: string | null
  readonly agent_id: string | null
  readonly kind: string
  readonly by_hook: string | null
  readonly code: string | null
  readonly duration_ms: number
  readonly created_at: number
  readonly request: string
  readonly answer: string
  readonly moment: string | null
}

export interface SealedExecution {
  readonly id: string
  readonly tenant_id: string
  /** Written only when there is such a hook: it may have been deleted while it ran, or never have been stored. */
  readonly hook_id: string
  readonly event_id: string
  readonly event: string
  readonly handler_type: string
  readonly session_id: string | null
  readonly agent_id: string | null
  readonly input_hash: string
  readonly decision: string
  readonly duration_ms: number
  readonly retry: number
  readonly dedup_key: string
  readonly code: string | null
  readonly error: string | null
  readonly error_detail: string | null
  readonly shadow: boolean
  /** As JSON with sorted keys. */
  readonly metadata: string
  readonly created_at: number
}

/** A waiting delivery; `updated_at` is `created_at`. */
export interface SealedDelivery {
  readonly id: string
  readonly tenant_id: string
  readonly kind: string
  readonly dedup_key: string
  readonly payload: string
  readonly due_at: number
  readonly created_at: number
}

/** Takes the place of one with the same key that has ended at `now`; else the first one stays. */
export interface SealedAnswer {
  readonly tenant_id: string
  readonly key: string
  readonly request_hash: string
  readonly answer: string
  readonly expires_at: number
}

/** Seals what may hold secrets, hashes what was asked, gives ids. Nothing here touches the database. */
export function sealGroup(
  secrets: Secrets,
  batch: readonly EventRecord[],
  deliveries: readonly NewDelivery[],
  answers: readonly KeptAnswer[],
): Pick<AuditGroup, 'events' | 'executions'> & Pick<AppendedGroup, 'deliveries' | 'answers'> {
  return {
    events: batch.map((record) => sealEvent(secrets, record)),
    executions: batch.flatMap((record) => {
      if (record.executions.length === 0) return []
      const inputHash = hashInput(record.request)
      return record.executions.map((execution) => sealExecution(secrets, record, execution, inputHash))
    }),
    deliveries: deliveries.map((delivery) => sealDelivery(secrets, delivery)),
    answers: answers.map((answer) => sealAnswer(secrets, answer)),
  }
}

function sealEvent(secrets: Secrets, record: EventRecord): SealedEvent {
  const { tenant, event_id } = record
  return {
    tenant_id: tenant,
    event_id,
    event: record.event,
    session_id: record.session_id,
    agent_id: record.agent_id,
    kind: record.kind,
    by_hook: record.by_hook,
    code: record.code,
    duration_ms: record.duration_ms,
    created_at: record.time,
    request: secrets.encrypt(record.request, eventPlace(tenant, event_id, 'request')),
    answer: secrets.encrypt(record.answer, eventPlace(tenant, event_id, 'answer')),
    moment: record.moment === undefined ? null : JSON.stringify(record.moment).toWellFormed(),
  }
}

function sealExecution(
  secrets: Secrets,
  record: EventRecord,
  execution: ExecutionRecord,
  inputHash: string,
): SealedExecution {
  const id = timeUuid(record.time)
  const { error_detail } = execution
  return {
    id,
    tenant_id: record.tenant,
    hook_id: execution.hook_id,
    event_id: wellFormed(record.event_id),
    event: record.event,
    handler_type: execution.handler_type,
    session_id: wellFormed(record.session_id),
    agent_id: wellFormed(record.agent_id),
    input_hash: inputHash,
    decision: execution.decision,
    duration_ms: execution.duration_ms,
    retry: execution.retry,
    dedup_key: wellFormed(execution.dedup_key),
    code: execution.code,
    error: wellFormed(execution.error),
    error_detail: error_detail === null ? null : secrets.encrypt(error_detail, errorDetailPlace(id)),
    shadow: execution.shadow,
    metadata: stableJson(execution.metadata),
    created_at: record.time,
  }
}

function sealDelivery(secrets: Secrets, { tenant, ...delivery }: NewDelivery): SealedDelivery {
  return {
    ...delivery,
    tenant_id: tenant,
    payload: secrets.encrypt(delivery.payload, payloadPlace(delivery.id)),
  }
}

function sealAnswer(secrets: Secrets, { tenant, ...kept }: KeptAnswer): SealedAnswer {
  return {
    ...kept,
    tenant_id: tenant,
    answer: secrets.encrypt(kept.answer, answerPlace(tenant, kept.key)),
  }
}

/** Half a character has no bytes, so the row would not read back as it was linked. */
function wellFormed<T extends string | null>(text: T): T
function wellFormed(text: string | null): string | null {
  return text === null || text.isWellFormed() ? text : text.toWellFormed()
}

/** Of the tool's name and input; no input is `null`, which is not the same as an empty one. */
function hashInput(request: string): string {
  const { tool_name, tool_input } = payloadOf(request)
  const tool = typeof tool_name === 'string' ? tool_name : ''
  return hash('sha256', `${tool}\0${stableJson(tool_input ?? null)}`)
}

function payloadOf(request: string): { tool_name?: unknown; tool_input?: unknown } {
  try {
    const parsed: unknown = JSON.parse(request)
    if (typeof parsed !== 'object' || parsed === null || !('payload' in parsed)) return {}
    const { payload } = parsed
    return typeof payload === 'object' && payload !== null ? payload : {}
  } catch {
    return {}
  }
}
