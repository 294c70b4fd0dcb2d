import type { Page } from './audit-store.ts'

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
  /** The hash of event, tool and final arguments. An answer counts for calls with this hash alone. */
  readonly input_hash: string
  /** The name of the token that sent the call. */
  readonly requested_by: string
  readonly approvers_needed: number
  /** How long people may take. After that the approval expires. */
  readonly within_ms: number
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
  /** Replaces the input of the call. */
  readonly edited?: unknown
  /** For how long identical calls of the session are approved too. */
  readonly grant_ms?: number
}

export interface ApprovalFilter {
  readonly status?: ApprovalStatus
  readonly session_id?: string
  readonly input_hash?: string
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
   * gave meanwhile and that no call has used yet, or a grant that still counts. `isNew` tells whether it was stored.
   */
  requestApproval(
    approval: NewApproval,
    now?: number,
  ): Promise<{ readonly approval: ApprovalRow; readonly isNew: boolean }>
  /** Counts an answer. Without `counted`, another answer, the deadline or the caller was faster. Undefined: there is none. */
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
  ): Promise<Page<ApprovalRow>>
  countPendingApprovals(tenant: string): Promise<number>
  /** Those of the given approvals that are no longer pending, of any tenant. */
  endedApprovals(approvalIds: readonly string[]): Promise<readonly ApprovalKey[]>
  /** Ends approvals whose deadline has passed, of any tenant; at most `limit`. */
  expireApprovals(limit: number, now?: number): Promise<readonly ApprovalKey[]>
}
