import { hash } from 'node:crypto'
import {
  deliveryPayloadPath,
  errorDetailPath,
  eventPath,
  keptAnswerPath,
} from '../../database/sealed-paths.ts'
import type { NewDelivery } from '../../deliveries/delivery-table.ts'
import { stableJson } from '../../engine/core/values/stable-json.ts'
import type { Secrets } from '../../safe/secrets/secret.ts'
import { timeUuid } from '../../safe/time-uuid.ts'
import type { Tables } from '../../store/kysely-tables.ts'
import type { EventRecord, ExecutionRecord, ExecutionTally, NewAnswer } from '../audit-tables.ts'
import { summaryRow } from '../views/summary-row.ts'
import type { AuditChain } from './audit-chain.ts'

/** The rows of a group of dispatches: sealed, hashed, with ids. Only inserted events count towards their sessions. */
export interface AuditGroup {
  readonly events: readonly SealedEvent[]
  /** The summary of each event, in the same order. */
  readonly summaries: readonly SealedSummary[]
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
  /** The clock of the store if undefined. Answers that have expired by then are replaced. */
  readonly now: number | undefined
}

export type NewJournalEntry = Readonly<Omit<Tables['audit_journal'], 'position'>>

export type SealedEvent = Readonly<Tables['events']>

/** A row of `event_summaries`, and the title that the event gives its session. Redacted, not sealed. */
export interface SealedSummary
  extends Readonly<Omit<Tables['event_summaries'], 'position' | 'rewritten' | 'probe'>> {
  readonly rewritten: boolean
  readonly probe: boolean
  readonly title: string | null
}

export interface SealedExecution
  extends Readonly<
    Omit<Tables['hook_executions'], 'position' | 'hook_id' | 'shadow' | 'metadata' | 'chain' | 'seq' | 'mac'>
  > {
  /** Written only if the hook is stored: it may be deleted while it runs, or never have been stored. */
  readonly hook_id: string
  readonly shadow: boolean
  /** JSON with sorted keys. */
  readonly metadata: string
  /** For the statistics; not part of the row. */
  readonly tally: ExecutionTally
}

/** An execution with its link in the chain. The hook id is null if the hook is not stored. */
export interface LinkedExecution extends Omit<SealedExecution, 'hook_id' | 'tally'> {
  readonly hook_id: string | null
  readonly chain: string
  readonly seq: number
  readonly mac: Uint8Array
}

/** A new delivery. Its state is `waiting` and its `updated_at` is `created_at`. */
export interface SealedDelivery
  extends Readonly<
    Omit<Tables['deliveries'], 'state' | 'attempts' | 'due_at' | 'lease' | 'last_error' | 'updated_at'>
  > {
  /** Null if it is due at once. */
  readonly due_at: number | null
}

/** Replaces an expired answer with the same key; an answer that is still valid stays. */
export interface SealedAnswer extends Readonly<Omit<Tables['idempotency'], 'expires_at'>> {
  readonly keep_ms: number
}

/** Seals the texts that may hold secrets, hashes the inputs, and assigns ids. Does not touch the database. */
export function sealRows(
  secrets: Secrets,
  batch: readonly EventRecord[],
): Pick<AuditGroup, 'events' | 'summaries' | 'executions'> {
  return {
    events: batch.map((record) => sealEvent(secrets, record)),
    summaries: batch.map(summaryRow),
    executions: batch.flatMap((record) => {
      if (record.executions.length === 0) return []
      const inputHash = hashInput(record.request)
      return record.executions.map((execution) => sealExecution(secrets, { record, execution, inputHash }))
    }),
  }
}

function sealEvent(secrets: Secrets, record: EventRecord): SealedEvent {
  const { tenant, time, request, answer, moment, summary: _, executions: __, ...event } = record
  return {
    ...event,
    tenant_id: tenant,
    created_at: time,
    request: secrets.encrypt(request, eventPath(tenant, event.event_id, 'request')),
    answer: secrets.encrypt(answer, eventPath(tenant, event.event_id, 'answer')),
    moment: moment === undefined ? null : JSON.stringify(moment).toWellFormed(),
  }
}

function sealExecution(
  secrets: Secrets,
  { record, execution, inputHash }: { record: EventRecord; execution: ExecutionRecord; inputHash: string },
): SealedExecution {
  const id = timeUuid(record.time)
  const { error_detail, tally = {} } = execution
  return {
    ...execution,
    ...{ id, tenant_id: record.tenant, event: record.event, created_at: record.time, input_hash: inputHash },
    event_id: wellFormed(record.event_id),
    session_id: wellFormed(record.session_id),
    agent_id: wellFormed(record.agent_id),
    dedup_key: wellFormed(execution.dedup_key),
    error: wellFormed(execution.error),
    error_detail: error_detail === null ? null : secrets.encrypt(error_detail, errorDetailPath(id)),
    metadata: stableJson(execution.metadata),
    tally,
  }
}

export function sealDelivery(secrets: Secrets, { tenant, ...delivery }: NewDelivery): SealedDelivery {
  return {
    ...delivery,
    due_at: delivery.due_at ?? null,
    approval_id: delivery.approval_id ?? null,
    tenant_id: tenant,
    payload: secrets.encrypt(delivery.payload, deliveryPayloadPath(delivery.id)),
  }
}

export function sealAnswer(secrets: Secrets, { tenant, ...kept }: NewAnswer): SealedAnswer {
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
