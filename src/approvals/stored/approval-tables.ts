import { columns, type RowOf, table } from '../../database/table.ts'
import type { DeliveryState } from '../../deliveries/delivery-table.ts'
import { LONGEST_WAIT_MS } from '../../pipeline/caller-wait.ts'

const { id, internal, nullable, number, oneOf, position, sealedJson, tenantId, text } = columns

export const approvalStatuses = [
  'pending',
  'approved',
  'denied',
  'expired',
  'cancelled',
  'superseded',
] as const
export type ApprovalStatus = (typeof approvalStatuses)[number]

/** The answer of one person. */
export interface ApprovalVote {
  readonly verdict: 'approve' | 'deny'
  /** The name of the token that voted, or to whom its link was sent. */
  readonly by: string
  /** The member that voted, if it is known: however it votes, it counts once. */
  readonly member?: string
  /** The address that it came from, or the route. */
  readonly from: string
  readonly at: number
  readonly message?: string
}

/** The channel on which PostgreSQL tells nodes about approvals. */
export const APPROVAL_HINT_CHANNEL = 'hookhelm_approvals'

/** What the call does, why a person is asked, and the final arguments. */
export interface ApprovalContent {
  /** In one line. */
  readonly what: string | null
  readonly reason: string
  /** The final arguments, after every rewrite. */
  readonly input: unknown
}

/** The votes, and the input that a person wrote in place of that of the call. */
export interface ApprovalAnswers {
  readonly votes: readonly ApprovalVote[]
  readonly edited: unknown
}

export const approvals = table(
  'approvals',
  {
    /** The order of creation. */
    position: internal(position()),
    tenant_id: tenantId(),
    approval_id: text(),
    event: text(),
    event_id: text(),
    hook_id: nullable(text()),
    hook_name: nullable(text()),
    agent: nullable(text()),
    session_id: nullable(text()),
    /** Whose questions the budget of a session counts: the process of the agent in its folder, or the session. */
    caller_key: internal(nullable(text())),
    run_id: nullable(text()),
    folder: nullable(text()),
    tool: nullable(text()),
    content: internal(sealedJson<ApprovalContent>()),
    /** The hash of event, tool, final arguments, agent, folder and approvers. An answer counts for calls with this hash alone. */
    input_hash: text(),
    /** The name of the token that sent the call. */
    requested_by: text(),
    /** Who sent the call: only the same caller gets the answer again. */
    caller_id: text(),
    /** The member that its token belongs to. Answers and grants count for calls of this member alone. */
    member_id: nullable(id()),
    approvers_needed: number(),
    status: oneOf(approvalStatuses),
    answers: internal(nullable(sealedJson<ApprovalAnswers>())),
    created_at: number(),
    deadline_at: number(),
    decided_at: nullable(number()),
    decided_by: nullable(text()),
    /** Until then its caller waits, and no other call takes the question over. Null if the caller has stopped waiting. */
    waits_until: internal(nullable(number())),
    /** When the call used the answer. An answer counts for one call. */
    used_at: nullable(number()),
    /** When the call got its used answer again, because it may have been lost on its way. That happens once. */
    repeated_at: internal(nullable(number())),
    /** Until then identical calls of the session need no new answer. */
    granted_until: nullable(number()),
  },
  {
    unique: [['tenant_id', 'approval_id']],
    identity: ['tenant_id', 'approval_id'],
    indexes: [
      // One pending question per call: a caller that comes back on two connections asks once.
      "unique approvals_pending (tenant_id, event_id, input_hash) where status = 'pending'",
      "approvals_due (deadline_at) where status = 'pending'",
      'approvals_by_time (tenant_id, created_at, position)',
      'approvals_by_call (tenant_id, input_hash, position)',
      'approvals_by_id (approval_id)',
      // The questions of the last hour are counted before each new one.
      'approvals_of_caller (tenant_id, caller_key, created_at)',
      'approvals_of_agent (tenant_id, agent, created_at)',
      'approvals_granted (tenant_id, granted_until) where granted_until is not null',
    ],
    notice: {
      name: 'hint_approvals',
      channel: APPROVAL_HINT_CHANNEL,
      payload: 'new.approval_id',
      on: 'update of status',
      when: "new.status <> 'pending'",
    },
    // Ended questions go with the history, and with them their links; a grant that counts stays.
    expiry: [
      {
        where: "status <> 'pending' and decided_at < :before and coalesce(granted_until, 0) < :before",
        keep: 'history',
      },
    ],
    windows: [
      { ends: 'deadline_at', began: 'created_at', where: "status = 'pending'" },
      { ends: 'granted_until', began: 'decided_at', where: 'granted_until is not null' },
      { ends: 'waits_until', within: LONGEST_WAIT_MS, where: 'waits_until is not null' },
    ],
  },
)

/** A question to a person about exactly one call. */
export interface NewApproval
  extends ApprovalContent,
    Pick<
      RowOf<typeof approvals>,
      | (
          | 'approval_id'
          | 'tenant_id'
          | 'event'
          | 'event_id'
          | 'hook_id'
          | 'hook_name'
          | 'agent'
          | 'session_id'
        )
      | (
          | 'run_id'
          | 'folder'
          | 'tool'
          | 'input_hash'
          | 'requested_by'
          | 'caller_id'
          | 'member_id'
          | 'approvers_needed'
        )
    > {
  /** See the column. */
  readonly caller_key: string | null
  /** How long people may take. After that the approval expires. */
  readonly within_ms: number
  /** How long the caller waits. After that an identical call may take the question over. */
  readonly wait_ms: number
}

/** A message about a question, queued in the transaction that stores it. */
export interface ApprovalMessage {
  readonly id: string
  /** Unique within the question. */
  readonly key: string
  /** JSON; sealed. */
  readonly payload: string
  /** How long after the question it is due. */
  readonly after_ms: number
}

export const budgetScopes = ['session', 'agent', 'tenant'] as const
/** Whose questions of the last hour are counted. */
export type BudgetScope = (typeof budgetScopes)[number]

/** The most questions of an hour. */
export type ApprovalBudget = Readonly<Partial<Record<BudgetScope, number>>>

export interface RoutedApproval extends NewApproval {
  readonly messages?: readonly ApprovalMessage[]
  readonly budget?: ApprovalBudget
}

/** A session, agent or tenant that has asked too often. */
export const approvalAlerts = table(
  'approval_alerts',
  {
    tenant_id: internal(tenantId()),
    scope: oneOf(budgetScopes),
    /** The session or process, the name of the agent, or empty for the tenant. */
    subject: text(),
    /** The budget: so many questions an hour. */
    questions: number(),
    /** How many further questions were refused since the alert began. */
    refused: number(),
    since: number(),
    last_at: number(),
  },
  {
    key: ['tenant_id', 'scope', 'subject'],
    expiry: [{ where: 'last_at < :before', keep: 'history' }],
  },
)
export type ApprovalAlert = RowOf<typeof approvalAlerts>

export type ApprovalRequestResult =
  /** `expired`: earlier questions about the same call whose deadline had passed, and which this one ended. */
  | { readonly approval: ApprovalRow; readonly isNew: boolean; readonly expired: readonly ApprovalKey[] }
  /** Nothing was stored. `isNew` tells whether this is the first refusal of the hour. */
  | { readonly approval: undefined; readonly isNew: boolean; readonly alert: ApprovalAlert }

/** A link that answers one question with one verdict, once. */
export const approvalLinks = table(
  'approval_links',
  {
    /** Public; names the row. */
    link_id: text(),
    tenant_id: id(),
    approval_id: text(),
    verdict: oneOf(['approve', 'deny']),
    route: text(),
    /** Who gets the link. */
    recipient: text(),
    /** The member that the recipient is, if it is known. */
    member_id: nullable(id()),
    input_hash: text(),
    /** The hash of the secret part of the link and of everything that it is bound to. The secret itself is not stored. */
    digest: text(),
    created_at: number(),
    expires_at: number(),
    used_at: nullable(number()),
  },
  {
    key: ['link_id'],
    foreignKeys: ['(tenant_id, approval_id) references approvals (tenant_id, approval_id) on delete cascade'],
    indexes: ['links_of_approval (tenant_id, approval_id)'],
  },
)
export type ApprovalLink = RowOf<typeof approvalLinks>

/** How far a message has come. */
export interface ApprovalMessageRow {
  readonly approval_id: string
  readonly key: string
  readonly state: DeliveryState | 'done'
  readonly attempts: number
  readonly due_at: number
  /** Of a `done` message: why it was not sent. */
  readonly last_error: string | null
  readonly updated_at: number
}

export type ApprovalRow = RowOf<typeof approvals> & ApprovalContent & ApprovalAnswers

export interface ApprovalAnswer {
  readonly verdict: 'approve' | 'deny'
  readonly by: string
  readonly member?: string
  readonly from: string
  readonly message?: string
  /** Replaces the input of the call. Earlier approvals of other arguments no longer count. */
  readonly edited?: unknown
  /** For how long identical calls of the session are approved too. */
  readonly grant_ms?: number
  /** The link that carries the answer. It is used up, and an answer by a used link does not count. */
  readonly link_id?: string
}

export interface ApprovalFilter {
  readonly status?: ApprovalStatus
  readonly session_id?: string
  readonly agent?: string
  readonly hook_id?: string
  readonly run_id?: string
  readonly input_hash?: string
  /** Those whose grant is in force. */
  readonly granted?: boolean
}

/** Where an approval is known. */
export interface ApprovalKey {
  readonly tenant_id: string
  readonly approval_id: string
}
