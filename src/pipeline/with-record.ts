import type { NewDelivery } from '../deliveries/delivery-table.ts'
import type { Decision } from '../engine/core/decision.ts'
import { errorText } from '../engine/core/errors/error.ts'
import type { Execution, Log } from '../engine/core/records/sink.ts'
import type { NewAnswer } from '../history/audit-tables.ts'
import type { AuditItem, AuditQueue } from '../history/record/audit-queue.ts'
import type { RuleTriggers } from '../rules/trigger-rules.ts'
import type { AgentFolders } from '../stored-hooks/snapshots/snapshot.ts'
import type { Call } from './call.ts'

/** What is decided about an event, and what has to be written with it. */
export interface Decided<Answer> {
  readonly answer: Answer
  readonly draft: EventDraft
  readonly observers?: readonly NewDelivery[]
  readonly answers?: readonly NewAnswer[]
  /** What recovery rules see of it; undefined if none may react. */
  readonly trigger?: RuleCause
  /** `required`: on disk before the answer. `attempted`: the same, but a failure is only retried. `queued`: soon. */
  readonly write: 'required' | 'attempted' | 'queued'
  /** The answer if a required record cannot be written. */
  unrecorded?(thrown: unknown): Answer
}

/** The record of an event, once it is known what is written with it. */
export interface EventDraft {
  release(): Pick<AuditItem, 'event'>
  /** The executions that failed. */
  failures(): readonly Execution[]
}

interface RuleCause {
  readonly decision: Decision
  readonly hasHooks: boolean
  readonly folders?: AgentFolders | undefined
  readonly isOnlyFailures?: true
}

export type RecordedEvent = Pick<Call, 'payload' | 'envelope'> & { readonly event: string }

export interface RecordParts {
  readonly audit: Pick<AuditQueue, 'add' | 'commit' | 'isBehind' | 'settled'>
  /** Recovery rules that react to events. */
  readonly rules?: RuleTriggers
  readonly log: Log
  /** Called when a delivery was queued. */
  wakeDeliveries(): void
}

const NONE: readonly NewDelivery[] = []

/** Writes the record of an event once, in one transaction with the deliveries that it causes and the answers that are kept. */
export function withRecord<Given extends RecordedEvent, Answer>(
  parts: RecordParts,
  decide: (call: Given) => Decided<Answer> | Promise<Decided<Answer>>,
): (call: Given) => Promise<Answer> {
  const { audit, wakeDeliveries } = parts
  return async (call) => {
    const { answer, draft, observers = NONE, answers = [], ...decided } = await decide(call)
    const triggered =
      decided.trigger === undefined ? NONE : await triggerRules(parts, call, draft, decided.trigger)
    const item = { ...draft.release(), deliveries: [...observers, ...triggered], answers }
    const isEmpty = item.event === undefined && item.deliveries.length === 0
    if (decided.write === 'required' || answers.length > 0) {
      try {
        await audit.commit(item)
      } catch (thrown) {
        if (decided.unrecorded === undefined) throw thrown
        return decided.unrecorded(thrown)
      }
    } else if (decided.write === 'attempted' || triggered.length > 0) {
      if (!isEmpty) await audit.commit(item).catch(() => audit.add(item))
    } else {
      if (!isEmpty) audit.add(item)
      if (audit.isBehind()) await audit.settled()
    }
    if (item.deliveries.length > 0) wakeDeliveries()
    return answer
  }
}

/** What the recovery rules of the tenant make of an event. An event is decided whether its rules can be read or not. */
async function triggerRules(
  { rules, log }: RecordParts,
  { event, payload, envelope }: RecordedEvent,
  draft: EventDraft,
  cause: RuleCause,
): Promise<readonly NewDelivery[]> {
  if (rules?.isEnabled(envelope.tenant) !== true) return NONE
  try {
    return await rules.deliveriesFor({ event, payload, envelope, ...cause, failures: () => draft.failures() })
  } catch (thrown) {
    log('rules.trigger_failed', { tenant: envelope.tenant, event, error: errorText(thrown) })
    return NONE
  }
}
