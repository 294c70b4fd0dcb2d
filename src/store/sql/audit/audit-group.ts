import { hash } from 'node:crypto'
import { stableJson } from '../../../engine/core/stable-json.ts'
import type { Secrets } from '../../../safe/secret.ts'
import { timeUuid } from '../../../safe/time-uuid.ts'
import { deliveryPayloadPath, errorDetailPath, eventPath, keptAnswerPath } from '../../paths.ts'
import type { EventRecord, ExecutionRecord, KeptAnswer } from '../../stores/audit-store.ts'
import type { NewDelivery } from '../../stores/delivery-store.ts'
import type { AuditChain } from './audit-chain.ts'

/** The rows of a group of dispatches: sealed, hashed, with ids. Only inserted events count towards their sessions. */
export interface AuditGroup {
  readonly events: readonly SealedEvent[]
  readonly executions: readonly SealedExecution[]
  readonly chain: AuditChain
  /** The position of the journal entry, deleted in the same transaction. If it is gone, another node wrote the group. */
  readonly entry: number
}

/** What recording writes at once: the journal entry, and what other nodes must find now. */
export interface AppendedGroup {
  readonly entry: NewJournalEntry | undefined
  readonly deliveries: readonly SealedDelivery[]
  readonly answers: readonly SealedAnswer[]
  /** Answers that have expired by then are replaced. */
  readonly now: number
}

/** A new journal entry. */
export interface NewJournalEntry {
  readonly id: string
  readonly events: number
  readonly sealed: string
  readonly created_at: number
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
  /** Written only if the hook is stored: it may be deleted while it runs, or never have been stored. */
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
  /** JSON with sorted keys. */
  readonly metadata: string
  readonly created_at: number
}

/** A new delivery. Its state is `waiting` and its `updated_at` is `created_at`. */
export interface SealedDelivery {
  readonly id: string
  readonly tenant_id: string
  readonly kind: string
  readonly dedup_key: string
  readonly payload: string
  readonly due_at: number
  readonly created_at: number
}

/** Replaces an expired answer with the same key; an answer that is still valid stays. */
export interface SealedAnswer {
  readonly tenant_id: string
  readonly key: string
  readonly request_hash: string
  readonly answer: string
  readonly expires_at: number
}

/** Seals the texts that may hold secrets, hashes the inputs, and assigns ids. Does not touch the database. */
export function sealRows(
  secrets: Secrets,
  batch: readonly EventRecord[],
): Pick<AuditGroup, 'events' | 'executions'> {
  return {
    events: batch.map((record) => sealEvent(secrets, record)),
    executions: batch.flatMap((record) => {
      if (record.executions.length === 0) return []
      const inputHash = hashInput(record.request)
      return record.executions.map((execution) => sealExecution(secrets, { record, execution, inputHash }))
    }),
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
    request: secrets.encrypt(record.request, eventPath(tenant, event_id, 'request')),
    answer: secrets.encrypt(record.answer, eventPath(tenant, event_id, 'answer')),
    moment: record.moment === undefined ? null : JSON.stringify(record.moment).toWellFormed(),
  }
}

function sealExecution(
  secrets: Secrets,
  { record, execution, inputHash }: { record: EventRecord; execution: ExecutionRecord; inputHash: string },
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
    error_detail: error_detail === null ? null : secrets.encrypt(error_detail, errorDetailPath(id)),
    shadow: execution.shadow,
    metadata: stableJson(execution.metadata),
    created_at: record.time,
  }
}

export function sealDelivery(secrets: Secrets, { tenant, ...delivery }: NewDelivery): SealedDelivery {
  return {
    ...delivery,
    tenant_id: tenant,
    payload: secrets.encrypt(delivery.payload, deliveryPayloadPath(delivery.id)),
  }
}

export function sealAnswer(secrets: Secrets, { tenant, ...kept }: KeptAnswer): SealedAnswer {
  return {
    ...kept,
    tenant_id: tenant,
    answer: secrets.encrypt(kept.answer, keptAnswerPath(tenant, kept.key)),
  }
}

/** UTF-8 cannot store a lone surrogate: the row would not read back as it was linked. */
function wellFormed<T extends string | null>(text: T): T
function wellFormed(text: string | null): string | null {
  return text === null || text.isWellFormed() ? text : text.toWellFormed()
}

/** Hashes the tool's name and input. No input is `null`, which differs from an empty one. */
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
