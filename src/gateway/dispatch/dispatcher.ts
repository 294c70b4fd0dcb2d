import { hookFileNotices } from '../../config/watch/hook-file-notices.ts'
import type { Clock } from '../../engine/core/clock.ts'
import type { Envelope } from '../../engine/core/context.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { errorText } from '../../engine/core/error.ts'
import type { Log } from '../../engine/core/sink.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { createNameResolver } from '../../engine/events/event-names.ts'
import { timeUuid } from '../../safe/time-uuid.ts'
import type { Store } from '../../store/store.ts'
import type { AuditItem, AuditQueue } from '../audit/audit-queue.ts'
import { decidedRecord } from '../audit/event-record.ts'
import { redactDecision } from '../audit/redact-decision.ts'
import type { Caller } from '../auth/caller.ts'
import type { Settings } from '../settings.ts'
import type { AgentFolders, Snapshot } from '../tenancy/snapshot.ts'
import { isHookFileError, type Snapshots } from '../tenancy/snapshots.ts'
import { completeEnvelope } from './complete-envelope.ts'
import type { EventFolders } from './event-folders.ts'
import { type HookDelivery, hookDeliveries } from './hook-delivery.ts'
import {
  createIdempotencyCache,
  type IdempotentRequest,
  keptAnswerOf,
  requestHash,
} from './idempotency-cache.ts'
import { PendingDispatch } from './pending-dispatch.ts'

/** An event as a caller sends it. */
export interface DispatchRequest {
  readonly event: string
  readonly payload: unknown
  readonly envelope?: Envelope
  /** Adds the full trace to the answer. */
  readonly trace?: boolean
  /** The same key gets the same answer for a day, also from another node or after a restart. */
  readonly idempotency_key?: string
}

export interface DispatchAnswer {
  readonly eventId: string
  readonly decision: Decision
  /** `{"event_id":…,"decision":…}`, encoded once for every door and for the record. */
  readonly json: string
}

/** What a door knows about a request. */
export interface RequestContext {
  /** Aborted when the caller has disconnected. */
  readonly signal?: AbortSignal
  /** The request as it was received, kept for the record; encoded again if it is not given. */
  readonly text?: string
  /** When it happened, if that is not now: milliseconds since 1970. */
  readonly time?: number
  /** The folders whose hook files apply, if the door knows them. */
  readonly folder?: AgentFolders
  /** The client made this decision without the gateway. The event is recorded with it, and no hook runs. */
  readonly decided?: Decision
}

/** Sends events of callers through the hooks of their tenant and records the results. */
export interface Dispatcher {
  /** Rejects with a coded error for input that is not an event; a gate without an answer blocks. */
  dispatch(caller: Caller, request: DispatchRequest, context?: RequestContext): Promise<DispatchAnswer>
}

export interface EventDispatcher extends Dispatcher {
  /** Runs one queued hook. Returns how its execution ended, or why there was none. */
  deliver(
    tenant: string,
    delivery: HookDelivery,
    attempt: number,
  ): Promise<DeliveredHook | 'gone' | 'off' | 'missed'>
}

export interface DeliveredHook {
  readonly decision: string
  readonly code: string | undefined
  readonly reason: string | undefined
  readonly status: unknown
  readonly handlerType: string
}

interface DispatcherParts {
  readonly store: Pick<Store, 'findAnswer'>
  readonly snapshots: Snapshots
  readonly settings: Settings
  readonly audit: AuditQueue
  readonly clock: Clock
  readonly log: Log
  /** The folders whose hook files apply to an event of a door that names none. */
  readonly eventFolders?: EventFolders
  /** Called when a delivery was queued. */
  wakeDeliveries(): void
}

type EventName = keyof typeof catalogue

const resolveName = createNameResolver(catalogue)

/** A request with the fields that only the gateway knows. */
interface CompleteRequest extends DispatchRequest {
  readonly event: EventName
  readonly envelope: Envelope & { readonly id: string; readonly tenant: string }
}

export function createDispatcher(parts: DispatcherParts): EventDispatcher {
  const { snapshots, audit, clock } = parts
  const idempotencyCache = createIdempotencyCache(parts.store, clock)
  return {
    async dispatch(caller, given, request = {}) {
      const event = resolveName(given.event) as EventName
      const { payload, idempotency_key } = given
      const now = clock.now()
      const envelope = completeEnvelope(caller, given.envelope ?? {}, request.time ?? now)
      const folder = request.folder ?? parts.eventFolders?.(caller, envelope, payload)
      const context = folder === undefined ? request : { ...request, folder }
      const key = idempotency_key ?? envelope.id
      if (key === undefined)
        return runEvent(parts, { ...given, event, envelope: { ...envelope, id: timeUuid(now) } }, context)
      const hash = requestHash(event, payload, envelope)
      // Two events with the same id need two records, so the hash becomes part of the id.
      const id = envelope.id === undefined ? timeUuid(now) : `${envelope.id}:${hash.slice(0, 12)}`
      const complete = { ...given, event, envelope: { ...envelope, id } }
      const idempotent = { tenant: caller.tenant, key, hash }
      return idempotencyCache.once(idempotent, async () => {
        const isDurable = idempotency_key !== undefined || catalogue[event].mode === 'observe'
        const kept = isDurable ? await idempotencyCache.kept(idempotent) : undefined
        // Callers that repeat the request wait for the same answer, so one of them alone cannot abort it.
        const { signal: _, ...lasting } = context
        return kept ?? runEvent(parts, complete, lasting, idempotent)
      })
    },
    async deliver(tenant, { hook, event, payload, envelope, folder }, attempt) {
      const snapshot = await snapshots.of(tenant, folder)
      const row = snapshot.find(hook)
      if (row === undefined) return 'gone'
      if (!row.enabled) return 'off'
      const pending = new PendingDispatch(audit, { tenant, text: undefined, attempt, find: snapshot.find })
      const { trace } = await snapshot.hooks.dispatch(event as 'session_end', payload as never, envelope, {
        only: hook,
        trace: true,
        sink: pending,
      })
      // Written before the delivery ends. After a crash in between, the delivery runs again and its record is not lost.
      const item = pending.release()
      if (item.event !== undefined) await audit.commit(item).catch(() => audit.add(item))
      const execution = trace?.hooks.find((traced) => traced.hook === hook)?.executions[0]
      if (execution === undefined) return 'missed'
      const { decision, code, reason, facts } = execution
      return { decision, code, reason, status: facts?.http_status, handlerType: row.handler_type }
    },
  }
}

/** Runs the hooks of one event, and writes the record with the deliveries and answers that it causes. */
async function runEvent(
  parts: DispatcherParts,
  request: CompleteRequest,
  context: RequestContext,
  idempotent?: IdempotentRequest,
): Promise<DispatchAnswer> {
  const { settings, audit } = parts
  const { event, payload, envelope } = request
  const { tenant, id } = envelope
  const { mode } = catalogue[event]
  if (context.decided !== undefined) return recordDecided(parts, request, context.decided, idempotent)
  const snapshot = await loadSnapshot(parts, tenant, event, context.folder)
  if ('unloaded' in snapshot) return answerOf(id, unresolved(mode, snapshot.unloaded))
  const observers = snapshot.hooks.has(event)
    ? snapshot.hooks.observers(event, payload as never, envelope)
    : []
  const isStrict = settings.of(tenant).audit === 'strict'
  const keepsAnswer =
    idempotent !== undefined && (mode === 'observe' || request.idempotency_key !== undefined)
  // A record that must be on disk before the answer has to be complete first.
  const waits = observers.length > 0 || isStrict || keepsAnswer
  const pending = new PendingDispatch(audit, { tenant, text: context.text, attempt: 1, find: snapshot.find })
  const decision = await snapshot.hooks.dispatch(event, payload as never, envelope, {
    observers: 'skip',
    sink: pending,
    ...(context.signal === undefined ? {} : { signal: context.signal }),
    ...(waits || request.trace ? { trace: true } : {}),
  })
  const told = event === 'session_start' ? withFileNotices(decision, snapshot) : decision
  const answer = answerOf(id, redactDecision(request.trace ? told : withoutTrace(told)))
  const answers =
    idempotent !== undefined && (keepsAnswer || decision.kind === 'ask')
      ? [keptAnswerOf(idempotent, answer.json)]
      : []
  // A stored hook must not depend on the files of the folder that its event came from.
  const folderOf = (hook: string) => (snapshot.find(hook)?.isInFile ? context.folder : undefined)
  const deliveries = hookDeliveries(observers, { event, payload, envelope }, folderOf)
  const item = { ...pending.release(), deliveries, answers }
  if (waits || answers.length > 0) return commitRecord(parts, item, answer, mode)
  if (item.event !== undefined) audit.add(item)
  if (audit.isBehind()) await audit.settled()
  return answer
}

/** Records an event that its client decided. Rejects if that fails: the client keeps the event and sends it again. */
async function recordDecided(
  { audit, clock }: DispatcherParts,
  { event, payload, envelope }: CompleteRequest,
  decision: Decision,
  idempotent: IdempotentRequest | undefined,
): Promise<DispatchAnswer> {
  const { id, tenant, time = clock.now() } = envelope
  const answer = answerOf(id, redactDecision(decision))
  const record = decidedRecord({ event, id, time, payload, envelope, decision }, tenant)
  const answers = idempotent === undefined ? [] : [keptAnswerOf(idempotent, answer.json)]
  await audit.commit({ event: () => record, answers })
  return answer
}

/** Writes the record with its deliveries and kept answers. If a required record cannot be written, the gate blocks. */
async function commitRecord(
  { audit, wakeDeliveries }: DispatcherParts,
  item: AuditItem,
  answer: DispatchAnswer,
  mode: string,
): Promise<DispatchAnswer> {
  try {
    await audit.commit(item)
  } catch (thrown) {
    if (mode === 'gate') return answerOf(answer.eventId, unrecorded())
    throw thrown
  }
  if (item.deliveries?.length) wakeDeliveries()
  return answer
}

/** The snapshot, or why it cannot be loaded. */
async function loadSnapshot(
  { snapshots, log }: DispatcherParts,
  tenant: string,
  event: EventName,
  folder: AgentFolders | undefined,
): Promise<Snapshot | { readonly unloaded: Pick<Decision, 'reason' | 'code'> }> {
  try {
    return await snapshots.of(tenant, folder)
  } catch (thrown) {
    log('security.hook.resolve_error', { tenant, event, error: errorText(thrown) })
    if (catalogue[event].mode === 'observe') throw thrown
    if (isHookFileError(thrown)) return { unloaded: { reason: thrown.message, code: thrown.code } }
    const reason = 'the hooks of this tenant cannot be loaded'
    return { unloaded: { reason, code: 'store.unavailable' } }
  }
}

/** Tells the agent about hook files that need its user, because the agent is what the user looks at. */
function withFileNotices(decision: Decision, { files }: Snapshot): Decision {
  const notices = files()
    .flatMap(hookFileNotices)
    .map(({ text }) => `Hookhelm: ${text}. Tell the user. Only the user may do this.`)
  return notices.length === 0 ? decision : { ...decision, context: [...(decision.context ?? []), ...notices] }
}

function withoutTrace({ trace: _, ...decision }: Decision): Decision {
  return decision
}

/** The hooks are unknown: a gate blocks, a transform keeps its input. */
function unresolved(mode: string, why: Pick<Decision, 'reason' | 'code'>): Decision {
  const { reason = '' } = why
  return mode === 'gate' ? { kind: 'block', message: reason, ...why } : { kind: 'allow', ...why }
}

function unrecorded(): Decision {
  const reason = 'the decision cannot be recorded'
  return { kind: 'block', reason, message: reason, code: 'store.unavailable' }
}

const ALLOW_JSON = '{"kind":"allow"}'

/** The answer to a caller. Its own input is not sent back unless it asked for the trace. */
function answerOf(eventId: string, decision: Decision): DispatchAnswer {
  return {
    eventId,
    decision,
    json: `{"event_id":${JSON.stringify(eventId)},"decision":${encodeDecision(decision)}}`,
  }
}

/** Almost every decision is a plain allow. */
function encodeDecision(decision: Decision): string {
  for (const field in decision) if (field !== 'kind') return JSON.stringify(wireDecision(decision))
  return decision.kind === 'allow' ? ALLOW_JSON : JSON.stringify(decision)
}

function wireDecision(decision: Decision): unknown {
  if (decision.trace !== undefined) return decision
  if (decision.steps === undefined && decision.original === undefined) return decision
  const { original: _, steps: __, ...rest } = decision
  return rest
}
