import type { Clock } from '../engine/core/time/clock.ts'
import type { AuditQueue } from '../history/record/audit-queue.ts'
import { hooklessRecord } from '../history/record/event-record.ts'
import { timeUuid } from '../safe/time-uuid.ts'
import type { ApprovalRow } from './stored/approval-tables.ts'

/** One step in the life of an approval. */
export interface ApprovalStep {
  readonly step:
    | 'requested'
    | 'approved'
    | 'denied'
    | 'expired'
    | 'cancelled'
    | 'superseded'
    | 'revoked'
    /** Someone tried to answer who may not, or too late. */
    | 'refused'
    /** A hook answered in place of a person. */
    | 'preapproved'
    /** Too many questions: the alert in place of a further one. */
    | 'over_budget'
  /** Who did it: the name of a token, or what ended it. */
  readonly by: string
  /** The address that it came from, or the route. */
  readonly from?: string
  readonly message?: string
  readonly edited?: unknown
}

/** What happened, in words: lists show it. */
const sentences: Readonly<Record<ApprovalStep['step'], (by: string, what: string) => string>> = {
  requested: (by, what) => `a person is asked about ${what}, for ${by}`,
  approved: (by, what) => `${by} approved ${what}`,
  denied: (by, what) => `${by} denied ${what}`,
  expired: (_, what) => `nobody answered in time, so ${what} is denied`,
  cancelled: (by, what) => `the question about ${what} was cancelled: ${by}`,
  superseded: (by, what) => `the question about ${what} was replaced: ${by}`,
  revoked: (by, what) => `${by} revoked the grant for ${what}`,
  refused: (by, what) => `${by} may not answer about ${what}, or was too late`,
  preapproved: (by, what) => `${by} approved ${what} in place of a person`,
  over_budget: (by, what) => `too many questions, so ${what} is denied without one: ${by}`,
}

/** Writes every step of an approval into the audit log, as an event of its session. */
export interface ApprovalSteps {
  record(
    tenant: string,
    approvalId: string | undefined,
    step: ApprovalStep,
    approval?: Partial<ApprovalRow>,
  ): Promise<void>
}

export function createApprovalSteps(audit: Pick<AuditQueue, 'commit'>, clock: Clock): ApprovalSteps {
  return {
    async record(tenant, approvalId, { step, ...details }, approval) {
      const time = clock.now()
      const { session_id = null, agent = null, event_id, input_hash, tool } = approval ?? {}
      const summary = sentences[step](details.by, approval?.what ?? tool ?? approval?.event ?? 'a call')
      const payload = {
        name: `approval_${step}`,
        summary,
        ...(approvalId === undefined ? {} : { approval_id: approvalId }),
        ...details,
        ...(event_id === undefined ? {} : { event_id, input_hash }),
        ...(tool == null ? {} : { tool_name: tool }),
      }
      const envelope = {
        tenant,
        time,
        ...(session_id === null ? {} : { session: session_id }),
        ...(agent === null ? {} : { agent }),
      }
      const record = hooklessRecord(
        {
          event: 'agent_event',
          id: timeUuid(time),
          payload,
          envelope,
          decision: { kind: 'allow', reason: summary },
        },
        { tenant, text: undefined, attempt: 1, find: () => undefined },
      )
      await audit.commit({ event: () => record })
    },
  }
}
