import { hash } from 'node:crypto'
import { stableJson } from '../../../engine/core/stable-json.ts'
import type { Secrets } from '../../../safe/secret.ts'
import { timeUuid } from '../../../safe/time-uuid.ts'
import { answerPlace, errorDetailPlace, eventPlace, payloadPlace } from '../../places.ts'
import type { EventRecord, ExecutionRecord, KeptAnswer } from '../../stores/audit-store.ts'
import type { NewDelivery } from '../../stores/delivery-store.ts'
import type {
  AppendedGroup,
  AuditGroup,
  SealedAnswer,
  SealedDelivery,
  SealedEvent,
  SealedExecution,
} from './audit-group.ts'

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
