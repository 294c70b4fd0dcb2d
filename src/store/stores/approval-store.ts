import type { Page } from './audit-store.ts'
import type { DeliveryState } from './delivery-store.ts'

/** The kind of deliveries that carry a question to a route. They end when the question is decided. */
export const APPROVAL_MESSAGE = 'approval_message'

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
  /** The name of the token that voted. */
  readonly by: string
  /** The address that it came from, or the route. */
  readonly from: string
  readonly at: number
  readonly message?: string
}

/** A question to a person about exactly one call. */
export interface NewApproval {
  readonly approval_id: string
  readonly tenant_id: string
  readonly event: string
  readonly event_id: string
  readonly hook_id: string | null
  readonly hook_name: string | null
  readonly agent: string | null
  readonly session_id: string | null
  readonly run_id: string | null
  readonly folder: string | null
  readonly tool: string | null
  /** What the call does, in one line. */
  readonly what: string | null
  /** Why a person is asked. */
  readonly reason: string
  /** The final arguments, after every rewrite. */
  readonly input: unknown
  /** The hash of event, tool, final arguments, agent, folder and approvers. An answer counts for calls with this hash alone. */
  readonly input_hash: string
  /** The name of the token that sent the call. */
  readonly requested_by: string
  readonly approvers_needed: number
  /** How long people may take. After that the approval expires. */
  readonly within_ms: number
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
export interface ApprovalAlert {
  readonly scope: BudgetScope
  /** The id of the session, the name of the agent, or empty for the tenant. */
  readonly subject: string
  /** The budget: so many questions an hour. */
  readonly questions: number
  /** How many further questions were refused since the alert began. */
  readonly refused: number
  readonly since: number
  readonly last_at: number
}

export type ApprovalRequestResult =
  /** `expired`: earlier questions about the same call whose deadline had passed, and which this one ended. */
  | { readonly approval: ApprovalRow; readonly isNew: boolean; readonly expired: readonly ApprovalKey[] }
  /** Nothing was stored. `isNew` tells whether this is the first refusal of the hour. */
  | { readonly approval: undefined; readonly isNew: boolean; readonly alert: ApprovalAlert }

/** A link that answers one question with one verdict, once. */
export interface ApprovalLink {
  /** Public; names the row. */
  readonly link_id: string
  readonly tenant_id: string
  readonly approval_id: string
  readonly verdict: 'approve' | 'deny'
  readonly route: string
  /** Who gets the link. */
  readonly recipient: string
  readonly input_hash: string
  /** The hash of the secret part of the link and of everything that it is bound to. The secret itself is not stored. */
  readonly digest: string
  readonly created_at: number
  readonly expires_at: number
  readonly used_at: number | null
}

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

export interface ApprovalRow extends Omit<NewApproval, 'within_ms'> {
  readonly status: ApprovalStatus
  readonly votes: readonly ApprovalVote[]
  /** The input that a person wrote in place of `input`. */
  readonly edited: unknown
  readonly created_at: number
  readonly deadline_at: number
  readonly decided_at: number | null
  readonly decided_by: string | null
  /** When a call used the answer. An answer counts for one call. */
  readonly used_at: number | null
  /** Until then identical calls of the session need no new answer. */
  readonly granted_until: number | null
}

export interface ApprovalAnswer {
  readonly verdict: 'approve' | 'deny'
  readonly by: string
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

/** Questions to people. Every method is atomic; times are the store's. */
export interface ApprovalStore {
  /**
   * Stores a question, unless the session already has the same one: returns the pending question, the answer that a person
   * gave meanwhile and that no call has used yet, a grant that still counts, or how the question of the same event ended.
   * `isNew` tells whether it was stored. Its messages are queued in the same transaction.
   */
  requestApproval(approval: RoutedApproval, now?: number): Promise<ApprovalRequestResult>
  /**
   * Counts an answer. Without `counted`, another answer, an edit, the deadline or the caller was faster. Undefined: there is
   * none.
   */
  answerApproval(
    tenant: string,
    approvalId: string,
    answer: ApprovalAnswer,
    now?: number,
  ): Promise<{ readonly approval: ApprovalRow; readonly counted: boolean } | undefined>
  /** Ends a pending approval without an answer. False if it is not pending. */
  endApproval(
    tenant: string,
    approvalId: string,
    end: { readonly status: 'cancelled' | 'superseded'; readonly by: string },
    now?: number,
  ): Promise<boolean>
  /** Takes the answer for a call. False if another call has used it. */
  useApproval(tenant: string, approvalId: string, now?: number): Promise<boolean>
  findApproval(tenant: string, approvalId: string): Promise<ApprovalRow | undefined>
  listApprovals(
    tenant: string,
    filter: ApprovalFilter,
    page: { readonly cursor?: string | undefined; readonly limit: number },
    now?: number,
  ): Promise<Page<ApprovalRow>>
  countPendingApprovals(tenant: string): Promise<number>
  /** Those of the given approvals that are no longer pending, of any tenant. */
  endedApprovals(approvalIds: readonly string[]): Promise<readonly ApprovalKey[]>
  /** Ends approvals whose deadline has passed, of any tenant; at most `limit`. */
  expireApprovals(limit: number, now?: number): Promise<readonly ApprovalKey[]>
  /** Ends a grant: the next identical call is asked about again. False if none is in force. */
  revokeGrant(tenant: string, approvalId: string, now?: number): Promise<boolean>
  /** Stores links of pending questions of one tenant. They expire with their question. */
  createApprovalLinks(
    links: readonly Omit<ApprovalLink, 'created_at' | 'used_at'>[],
    now?: number,
  ): Promise<void>
  /** Finds a link of any tenant: a link is the credential, and names no tenant. */
  findApprovalLink(linkId: string): Promise<ApprovalLink | undefined>
  /** The messages about the given questions, in the order in which they are due. */
  listApprovalMessages(tenant: string, approvalIds: readonly string[]): Promise<readonly ApprovalMessageRow[]>
  /** The sessions, agents and tenants whose questions were refused within that time. */
  listApprovalAlerts(tenant: string, within_ms: number, now?: number): Promise<readonly ApprovalAlert[]>
}
