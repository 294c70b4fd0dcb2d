import { hookFileNotices } from '../../config/watch/hook-file-notices.ts'
import type { HookFileStatus } from '../../config/watch/watched-folder.ts'
import type { Clock } from '../../engine/core/clock.ts'
import type { Envelope } from '../../engine/core/context.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { errorText, isHookError } from '../../engine/core/error.ts'
import type { ErrorCode } from '../../engine/core/error-table.ts'
import type { AnyEventRow } from '../../engine/core/event.ts'
import type { Log } from '../../engine/core/sink.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { createNameResolver } from '../../engine/events/event-names.ts'
import type { RuleTriggers, TriggerCause } from '../../rules/trigger-rules.ts'
import { timeUuid } from '../../safe/time-uuid.ts'
import type { Store } from '../../store/store.ts'
import type { NewDelivery } from '../../store/stores/delivery-store.ts'
import type { CallerWait } from '../approvals/caller-wait.ts'
import type { AuditItem, AuditQueue } from '../audit/audit-queue.ts'
import { hooklessRecord } from '../audit/event-record.ts'
import { redactDecision } from '../audit/redact-decision.ts'
import type { Caller } from '../auth/caller.ts'
import type { Settings } from '../settings.ts'
import type { AgentFolders, KnownHook, Snapshot } from '../tenancy/snapshot.ts'
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
  /** How long the caller can wait for a person, in milliseconds. Without it, `ask` is returned as it is. */
  readonly within_ms?: number
  /** The approval that this call waited for when its connection was lost. */
  readonly approval_id?: string
}

export interface DispatchAnswer {
  readonly eventId: string
  readonly decision: Decision
  /** `{"event_id":…,"decision":…}`, encoded once for every door and for the record. */
  readonly json: string
  /** The hook that asks for approval, if the decision is `ask`. */
  readonly askedBy?: KnownHook
  /** The hook that answers the question in place of a person. */
  readonly preapprovedBy?: KnownHook
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
  /** Set if the caller can wait for a person. */
  readonly wait?: CallerWait
  /** False if the caller cannot ask a person itself either. */
  readonly canAsk?: boolean
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
  /** Recovery rules that react to events. */
  readonly rules?: RuleTriggers
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
      const { eventFolders } = parts
      const context: RunContext =
        request.folder !== undefined || eventFolders === undefined
          ? request
          : { ...request, findFolder: () => eventFolders(caller, envelope, payload) }
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
        return kept === undefined
          ? runEvent(parts, complete, lasting, idempotent)
          : withAskingHook(parts, complete, { answer: kept, context: lasting })
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
      const triggered = await triggerRules(parts, {
        ...{ event, payload, folders: folder, decision: { kind: 'allow' }, hasHooks: true },
        envelope: { ...envelope, id: `${envelope.id ?? ''}`, tenant },
        // The event itself has triggered its rules when it was dispatched.
        isOnlyFailures: true,
        failures: () => pending.failures(),
      })
      const item = { ...pending.release(), deliveries: triggered }
      if (item.event !== undefined) await audit.commit(item).catch(() => audit.add(item))
      if (triggered.length > 0) parts.wakeDeliveries()
      const execution = trace?.hooks.find((traced) => traced.hook === hook)?.executions[0]
      if (execution === undefined) return 'missed'
      const { decision, code, reason, facts } = execution
      return { decision, code, reason, status: facts?.http_status, handlerType: row.handler_type }
    },
  }
}

interface RunContext extends RequestContext {
  /** Finds the folders if the request does not name them. */
  readonly findFolder?: () => ReturnType<EventFolders>
}

/** Runs the hooks of one event, and writes the record with the deliveries and answers that it causes. */
async function runEvent(
  parts: DispatcherParts,
  request: CompleteRequest,
  context: RunContext,
  idempotent?: IdempotentRequest,
): Promise<DispatchAnswer> {
  const { settings, audit } = parts
  const { event, payload, envelope } = request
  const { tenant, id } = envelope
  const row: AnyEventRow = catalogue[event]
  const { mode } = row
  if (context.decided !== undefined) return recordDecided(parts, request, context.decided, idempotent)
  const loaded = await loadSnapshot(parts, request, context)
  if ('reason' in loaded) return decideWithoutHooks(audit, request, { ...loaded, text: context.text })
  const { snapshot, folder } = loaded
  const observers = snapshot.hooks.has(event)
    ? snapshot.hooks.observers(event, payload as never, envelope)
    : []
  const isStrict = settings.of(tenant).audit === 'strict'
  const keepsAnswer =
    idempotent !== undefined && (mode === 'observe' || request.idempotency_key !== undefined)
  // A record that must be on disk before the answer has to be complete first.
  const waits = observers.length > 0 || isStrict || keepsAnswer
  const files = describeFiles(snapshot)
  const { find } = snapshot
  const pending = new PendingDispatch(audit, { tenant, text: context.text, attempt: 1, find, files })
  const decision = await snapshot.hooks.dispatch(event, payload as never, envelope, {
    observers: 'skip',
    sink: pending,
    ...(context.signal === undefined ? {} : { signal: context.signal }),
    ...(waits || request.trace ? { trace: true } : {}),
  })
  const told = withFileNotices(decision, event, { snapshot, files })
  const answer = {
    ...answerOf(id, redactDecision(request.trace ? told : withoutTrace(told))),
    ...(decision.kind === 'ask' ? askedBy(snapshot, decision) : {}),
    ...(decision.granted === undefined ? {} : preapprovedBy(snapshot, decision.granted)),
  }
  // A caller that waits for a person may lose its connection and send the event again.
  const repeated =
    decision.kind === 'ask' && context.wait !== undefined
      ? (idempotent ?? { tenant, key: id, hash: requestHash(event, payload, envelope) })
      : idempotent
  const answers =
    repeated !== undefined && (keepsAnswer || decision.kind === 'ask')
      ? [keptAnswerOf(repeated, answer.json)]
      : []
  // A stored hook must not depend on the files of the folder that its event came from.
  const folderOf = (hook: string) => (snapshot.find(hook)?.isInFile ? folder : undefined)
  const deliveries = hookDeliveries(observers, { event, payload, envelope }, folderOf)
  const triggered =
    parts.rules?.isEnabled(tenant) === true
      ? await triggerRules(parts, {
          ...{ event, payload, envelope, decision, folders: folder, hasHooks: snapshot.hooks.has(event) },
          failures: () => pending.failures(),
        })
      : NO_DELIVERIES
  const item = { ...pending.release(), deliveries: [...deliveries, ...triggered], answers }
  if (waits || answers.length > 0) return commitRecord(parts, item, answer, row)
  if (triggered.length > 0) return queueTriggered(parts, item, answer)
  if (item.event !== undefined) audit.add(item)
  if (audit.isBehind()) await audit.settled()
  return answer
}

/** The hook that asks is no part of a kept answer, and says how many people have to approve. */
async function withAskingHook(
  parts: DispatcherParts,
  request: CompleteRequest,
  { answer, context }: { readonly answer: DispatchAnswer; readonly context: RunContext },
): Promise<DispatchAnswer> {
  if (answer.decision.kind !== 'ask') return answer
  const loaded = await loadSnapshot(parts, request, context)
  return 'reason' in loaded ? answer : { ...answer, ...askedBy(loaded.snapshot, answer.decision) }
}

const NO_DELIVERIES: readonly NewDelivery[] = []

/** What the recovery rules of the tenant make of an event. An event is decided whether its rules can be read or not. */
async function triggerRules({ rules, log }: DispatcherParts, cause: TriggerCause) {
  if (rules?.isEnabled(cause.envelope.tenant) !== true) return []
  try {
    return await rules.deliveriesFor(cause)
  } catch (thrown) {
    const { tenant } = cause.envelope
    log('rules.trigger_failed', { tenant, event: cause.event, error: errorText(thrown) })
    return []
  }
}

/** Writes the record with the work of recovery rules. A gate does not depend on them, so a failure is only retried. */
async function queueTriggered(
  { audit, wakeDeliveries }: DispatcherParts,
  item: AuditItem,
  answer: DispatchAnswer,
): Promise<DispatchAnswer> {
  await audit.commit(item).catch(() => audit.add(item))
  wakeDeliveries()
  return answer
}

/** Records an event that its client decided. Rejects if that fails: the client keeps the event and sends it again. */
async function recordDecided(
  parts: DispatcherParts,
  { event, payload, envelope }: CompleteRequest,
  decision: Decision,
  idempotent: IdempotentRequest | undefined,
): Promise<DispatchAnswer> {
  const { audit, clock } = parts
  const { id, tenant, time = clock.now() } = envelope
  const answer = answerOf(id, redactDecision(decision))
  const context = { tenant, text: undefined, attempt: 1, find: () => undefined }
  const record = hooklessRecord({ event, id, payload, envelope: { ...envelope, time }, decision }, context)
  const answers = idempotent === undefined ? [] : [keptAnswerOf(idempotent, answer.json)]
  const cause = { event, payload, envelope: { ...envelope, time }, decision, hasHooks: false }
  const deliveries = await triggerRules(parts, { ...cause, failures: () => [] })
  await audit.commit({ event: () => record, answers, deliveries })
  if (deliveries.length > 0) parts.wakeDeliveries()
  return answer
}

/** Writes the record with its deliveries and kept answers. If a required record cannot be written, the event fails. */
async function commitRecord(
  { audit, wakeDeliveries }: DispatcherParts,
  item: AuditItem,
  answer: DispatchAnswer,
  row: AnyEventRow,
): Promise<DispatchAnswer> {
  try {
    await audit.commit(item)
  } catch (thrown) {
    if (row.mode !== 'gate') throw thrown
    // Where the failure does not block, the block of a hook still stands.
    if (answer.decision.kind === 'block' && row.onFailure === 'allow') return answer
    return answerOf(answer.eventId, failedDecision(row, 'the decision cannot be recorded'))
  }
  if (item.deliveries?.length) wakeDeliveries()
  return answer
}

/** Why the hooks of an event are unknown. */
interface LoadFailure {
  readonly reason: string
  readonly code: ErrorCode
  /** There is no such tenant, so there is no history to record the event in. */
  readonly isTenantGone: boolean
}

/** Decides and records an event whose hooks cannot be loaded. */
function decideWithoutHooks(
  audit: AuditQueue,
  { event, payload, envelope }: CompleteRequest,
  { reason, code, isTenantGone, text }: LoadFailure & { readonly text: string | undefined },
): DispatchAnswer {
  const { id, tenant } = envelope
  const decision = failedDecision(catalogue[event], reason, code)
  if (!isTenantGone) {
    const context = { tenant, text, attempt: 1, find: () => undefined }
    audit.add({ event: () => hooklessRecord({ event, id, payload, envelope, decision }, context) })
  }
  return answerOf(id, decision)
}

interface LoadedSnapshot {
  readonly snapshot: Snapshot
  readonly folder: AgentFolders | undefined
}

/** The snapshot for the folder of the event, or why it cannot be loaded. */
async function loadSnapshot(
  { snapshots, log }: DispatcherParts,
  { event, envelope: { tenant } }: CompleteRequest,
  context: RunContext,
): Promise<LoadedSnapshot | LoadFailure> {
  try {
    const found = context.folder ?? context.findFolder?.()
    const folder = found instanceof Promise ? await found : found
    return { snapshot: await snapshots.of(tenant, folder), folder }
  } catch (thrown) {
    log('security.hook.resolve_error', { tenant, event, error: errorText(thrown) })
    if (catalogue[event].mode === 'observe') throw thrown
    if (isHookFileError(thrown)) return { reason: thrown.message, code: thrown.code, isTenantGone: false }
    const reason = 'the hooks of this tenant cannot be loaded'
    const isTenantGone = isHookError(thrown) && thrown.code === 'gateway.not_found'
    return { reason, code: 'store.unavailable', isTenantGone }
  }
}

/** Hook files that are not in use as they are written. Reads no file, because every dispatch asks. */
function describeFiles({ files }: Snapshot): readonly string[] {
  const isInUse = ({ state }: HookFileStatus) => state === 'good' || state === 'none'
  return files().flatMap((file) => (isInUse(file) ? [] : hookFileNotices(file).map(({ text }) => text)))
}

interface FileNotices {
  readonly snapshot: Snapshot
  readonly files: readonly string[]
}

/** Adds them to the trace, and at the start of a session tells the agent, because that is what its user looks at. */
function withFileNotices(decision: Decision, event: EventName, { snapshot, files }: FileNotices): Decision {
  const { trace } = decision
  const traced =
    trace === undefined || files.length === 0 ? decision : { ...decision, trace: { ...trace, files } }
  if (event !== 'session_start') return traced
  const notices = snapshot
    .files()
    .flatMap(hookFileNotices)
    .map(({ text }) => `Hookhelm: ${text}. Tell the user. Only the user may do this.`)
  return notices.length === 0 ? traced : { ...traced, context: [...(decision.context ?? []), ...notices] }
}

function withoutTrace({ trace: _, ...decision }: Decision): Decision {
  return decision
}

/**
 * The hooks are unknown, or the decision cannot be recorded. A gate blocks, unless the policy of its event allows: an
 * agent that cannot stop is worse than one that does.
 */
function failedDecision(
  { onFailure }: AnyEventRow,
  reason: string,
  code: ErrorCode = 'store.unavailable',
): Decision {
  return onFailure === 'block'
    ? { kind: 'block', reason, message: reason, code }
    : { kind: 'allow', reason, code }
}

const ALLOW_JSON = '{"kind":"allow"}'

/** The answer to a caller. Its own input is not sent back unless it asked for the trace. */
export function answerOf(eventId: string, decision: Decision): DispatchAnswer {
  return {
    eventId,
    decision,
    json: `{"event_id":${JSON.stringify(eventId)},"decision":${encodeDecision(decision)}}`,
  }
}

function askedBy({ find }: Snapshot, { by }: Decision): Pick<DispatchAnswer, 'askedBy'> {
  const hook = by === undefined ? undefined : find(by)
  return hook === undefined ? {} : { askedBy: hook }
}

/** A person saved the hook that answers. It does not answer for managed hooks, nor where two people must approve. */
function preapprovedBy(
  { find }: Snapshot,
  { asked_by, granted_by }: NonNullable<Decision['granted']>,
): Pick<DispatchAnswer, 'preapprovedBy'> {
  const mayAnswer = asked_by.every((id) => {
    const asking = find(id)
    return asking !== undefined && asking.locked !== true && (asking.approvers ?? 1) === 1
  })
  const hook = mayAnswer ? granted_by.map(find).find((each) => each?.preapproves === true) : undefined
  return hook === undefined ? {} : { preapprovedBy: hook }
}

/** Almost every decision is a plain allow. */
function encodeDecision(decision: Decision): string {
  for (const field in decision) if (field !== 'kind') return JSON.stringify(wireDecision(decision))
  return decision.kind === 'allow' ? ALLOW_JSON : JSON.stringify(decision)
}

function wireDecision(decision: Decision): unknown {
  if (decision.trace !== undefined) return decision
  const { original, steps, granted, ...rest } = decision
  if (steps === undefined && original === undefined && granted === undefined) return decision
  return rest
}
