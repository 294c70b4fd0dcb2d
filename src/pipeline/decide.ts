import type { Decision } from '../engine/core/decision.ts'
import type { ErrorCode } from '../engine/core/errors/error-table.ts'
import type { AnyEventRow } from '../engine/core/event.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import { hooklessRecord } from '../history/record/event-record.ts'
import { redactDecision } from '../history/record/redact-decision.ts'
import { hookFileNotices } from '../hook-files/watch/hook-file-notices.ts'
import type { HookFileStatus } from '../hook-files/watch/watched-folder.ts'
import type { Settings } from '../settings/settings.ts'
import type { Snapshot } from '../stored-hooks/snapshots/snapshot.ts'
import type { Call, EventName } from './call.ts'
import { answerOf, type DispatchAnswer } from './dispatch-answer.ts'
import { hookDeliveries } from './hook-delivery.ts'
import type { LoadedHooks, LoadFailure } from './load-hooks.ts'
import { answersToKeep } from './once-per-key.ts'
import { PendingDispatch } from './pending-dispatch.ts'
import type { Decided, EventDraft, RecordParts } from './with-record.ts'

interface DecideParts extends Pick<RecordParts, 'audit'> {
  readonly settings: Settings
  readonly clock: Clock
}

/** Decides a call: its client has, the hooks do, or they are not known. */
export function decide(
  parts: DecideParts,
): (call: Call) => Decided<DispatchAnswer> | Promise<Decided<DispatchAnswer>> {
  return (call) => {
    const { hooks, context } = call
    if (context.decided !== undefined) return decidedByClient(parts, call, context.decided)
    if (hooks === undefined || 'reason' in hooks) return decidedWithoutHooks(call, hooks)
    return decidedByHooks(parts, call, hooks)
  }
}

/** Runs the hooks of one event. */
async function decidedByHooks(
  { settings, audit }: DecideParts,
  call: Call,
  { snapshot, folder, effects }: LoadedHooks,
): Promise<Decided<DispatchAnswer>> {
  const { event, payload, envelope, row, context, request } = call
  const { tenant, id } = envelope
  const { hooks, find } = snapshot
  const hasHooks = hooks.has(event)
  const observers = hasHooks ? hooks.observers(event, payload as never, envelope) : []
  const isStrict = settings.of(tenant).audit === 'strict'
  // A record that must be on disk before the answer has to be complete first.
  const waits = observers.length > 0 || isStrict || call.key?.isDurable === true
  const files = describeFiles(snapshot)
  const draft = new PendingDispatch(audit, { tenant, text: context.text, attempt: 1, find, files })
  const decision = await hooks.dispatch(event, payload as never, envelope, {
    observers: 'skip',
    sink: draft,
    ...(context.signal === undefined ? {} : { signal: context.signal }),
    ...(waits || request.trace ? { trace: true } : {}),
    ...(effects === undefined ? {} : { effects }),
  })
  const told = withFileNotices(decision, event, snapshot, files)
  const answer = answerOf(id, redactDecision(request.trace ? told : withoutTrace(told)))
  // A stored hook must not depend on the files of the folder that its event came from.
  const folderOf = (hook: string) => (find(hook)?.isInFile ? folder : undefined)
  return {
    ...{ answer, draft, answers: answersToKeep(call, answer) },
    observers: hookDeliveries(observers, { event, payload, envelope }, folderOf),
    trigger: { decision, folders: folder, hasHooks },
    write: waits ? 'required' : 'queued',
    unrecorded: (thrown) => unrecorded(row, answer, thrown),
  }
}

/** The client keeps an event that cannot be recorded, and sends it again. */
function decidedByClient({ clock }: DecideParts, call: Call, decision: Decision): Decided<DispatchAnswer> {
  const envelope = { ...call.envelope, time: call.envelope.time ?? clock.now() }
  const answer = answerOf(envelope.id, redactDecision(decision))
  return {
    ...{ answer, answers: answersToKeep(call, answer), write: 'required' },
    draft: hooklessDraft({ ...call, envelope }, decision, undefined),
    trigger: { decision, hasHooks: false },
  }
}

function decidedWithoutHooks(call: Call, failure: LoadFailure | undefined): Decided<DispatchAnswer> {
  const { row, envelope, context } = call
  if (row.mode === 'observe') throw failure?.thrown
  const decision = failedDecision(row, failure?.reason ?? '', failure?.code)
  const draft = failure?.isTenantGone === true ? noDraft : hooklessDraft(call, decision, context.text)
  return { answer: answerOf(envelope.id, decision), draft, write: 'queued' }
}

const noDraft: EventDraft = { release: () => ({}), failures: () => [] }

function hooklessDraft(
  { event, payload, envelope }: Call,
  decision: Decision,
  text: string | undefined,
): EventDraft {
  const context = { tenant: envelope.tenant, text, attempt: 1, find: () => undefined }
  const dispatch = { event, id: envelope.id, payload, envelope, decision }
  return { ...noDraft, release: () => ({ event: () => hooklessRecord(dispatch, context) }) }
}

/** The answer of a gate whose record cannot be written. Where that does not block, the block of a hook still stands. */
function unrecorded(row: AnyEventRow, answer: DispatchAnswer, thrown: unknown): DispatchAnswer {
  if (row.mode !== 'gate') throw thrown
  if (answer.decision.kind === 'block' && row.onFailure === 'allow') return answer
  return answerOf(answer.eventId, failedDecision(row, 'the decision cannot be recorded'))
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

/** Hook files that are not in use as they are written. Reads no file, because every dispatch asks. */
function describeFiles({ files }: Snapshot): readonly string[] {
  const isInUse = ({ state }: HookFileStatus) => state === 'good' || state === 'none'
  return files().flatMap((file) => (isInUse(file) ? [] : hookFileNotices(file).map(({ text }) => text)))
}

/** Adds them to the trace, and at the start of a session tells the agent, because that is what its user looks at. */
function withFileNotices(
  decision: Decision,
  event: EventName,
  snapshot: Snapshot,
  files: readonly string[],
): Decision {
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
