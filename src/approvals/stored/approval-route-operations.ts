import { sql } from 'kysely'
import { inSystem, inTenant, inTenantOf, operation, type Tx, timed } from '../../database/operation.ts'
import { find, insert, listRows, update } from '../../database/rows.ts'
import { insertDelivery } from '../../deliveries/delivery-operations.ts'
import { APPROVAL_MESSAGE, deliveries } from '../../deliveries/delivery-table.ts'
import {
  type ApprovalAlert,
  type ApprovalAnswer,
  type ApprovalKey,
  type ApprovalLink,
  type ApprovalMessageRow,
  type ApprovalRequestResult,
  type ApprovalRow,
  approvalAlerts,
  approvalLinks,
  budgetScopes,
  type RoutedApproval,
} from './approval-tables.ts'

const HOUR_MS = 3_600_000

type NewLink = Omit<ApprovalLink, 'created_at' | 'used_at'>

/** The ways on which questions reach people: links, messages, and alerts in place of too many questions. */
export const approvalRouteOperations = {
  /** Stores links of pending questions of one tenant. They expire with their question. */
  createApprovalLinks: operation(
    timed,
    async (call, links: readonly NewLink[], given?: number): Promise<void> => {
      const [first] = links
      if (first === undefined) return
      await inTenantOf(call, first, async (tx) => {
        const created_at = await tx.time(given)
        for (const link of links) await insert(tx, approvalLinks, { ...link, created_at })
      })
    },
  ),

  /** Finds a link of any tenant: a link is the credential, and names no tenant. */
  findApprovalLink: inSystem((tx, link_id: string) => find(tx, approvalLinks, { link_id })),

  /** The messages about the given questions, in the order in which they are due. */
  listApprovalMessages: inTenant(
    async (tx, tenant: string, approvalIds: readonly string[]): Promise<readonly ApprovalMessageRow[]> => {
      if (approvalIds.length === 0) return []
      const { rows } = await sql<ApprovalMessageRow & { readonly dedup_key: string }>`
        select approval_id, dedup_key, state, attempts, due_at, last_error, updated_at from deliveries
        where tenant_id = ${tenant} and approval_id in (${sql.join(approvalIds)})
        order by due_at, dedup_key`.execute(tx.trx)
      return rows.map(({ dedup_key, ...row }) => ({
        ...row,
        key: dedup_key.slice(row.approval_id.length + 1),
      }))
    },
  ),

  /** The sessions, agents and tenants whose questions were refused within that time. */
  listApprovalAlerts: inTenant(async (tx, tenant: string, within_ms: number, given?: number) => {
    const since = (await tx.time(given)) - within_ms
    const alerts = await listRows(
      tx,
      approvalAlerts,
      { tenant_id: tenant },
      ['last_at desc'],
      [sql`last_at > ${since}`],
    )
    return alerts.slice(0, 100)
  }, timed),
}

export async function queueMessages(tx: Tx, approval: RoutedApproval, now: number): Promise<void> {
  const { tenant_id, approval_id, messages = [] } = approval
  for (const { id, key, payload, after_ms } of messages)
    await insertDelivery(
      tx,
      {
        ...{ id, tenant: tenant_id, kind: APPROVAL_MESSAGE, dedup_key: `${approval_id}/${key}`, payload },
        ...{ approval_id, due_at: now + after_ms, created_at: now },
      },
      now,
    )
}

interface CancelledMessages {
  readonly keys: readonly ApprovalKey[]
  readonly now: number
  readonly because: string
}

/** Cancels the messages of an ended question. A message that a worker is sending ends by itself. */
export async function cancelMessages(tx: Tx, { keys, now, because }: CancelledMessages): Promise<void> {
  for (const { tenant_id, approval_id } of keys)
    await update(
      tx,
      deliveries,
      { tenant_id, approval_id, state: 'waiting' },
      { state: 'done', payload: '', lease: null, last_error: `not sent: ${because}`, updated_at: now },
    )
}

/** Uses up the link of an answer. False if it was used, has expired, or belongs to another question, verdict or call. */
export async function takeLink(
  tx: Tx,
  { tenant_id, approval_id, input_hash }: ApprovalRow,
  { link_id, verdict }: ApprovalAnswer,
  now: number,
): Promise<boolean> {
  if (link_id === undefined) return true
  const unused = { link_id, tenant_id, approval_id, input_hash, verdict, used_at: null }
  return (await update(tx, approvalLinks, unused, { used_at: now }, [sql`expires_at > ${now}`])).length > 0
}

/** Counts the questions of the last hour. Over the budget the question is not stored, and an alert is. */
export async function refuseOverBudget(
  tx: Tx,
  { tenant_id, caller_key, agent, budget = {} }: RoutedApproval,
  now: number,
): Promise<Extract<ApprovalRequestResult, { approval: undefined }> | undefined> {
  // Calls that name no agent count together: leaving the name out must not be a way around the budget.
  const subjects = { session: caller_key, agent: agent ?? '', tenant: '' }
  const isOfSubject = {
    session: sql`caller_key = ${caller_key}`,
    agent: agent === null ? sql`agent is null` : sql`agent = ${agent}`,
    tenant: sql`1 = 1`,
  }
  for (const scope of budgetScopes) {
    const [questions, subject] = [budget[scope], subjects[scope]]
    if (questions === undefined || subject === null) continue
    // A question that was asked while the clock was ahead would count until the clock is there again.
    const { rows } = await sql<{ count: number }>`select count(*) as count from (
      select position from approvals where tenant_id = ${tenant_id} and created_at > ${now - HOUR_MS}
        and created_at <= ${now} and ${isOfSubject[scope]} limit ${questions}) latest`.execute(tx.trx)
    if (Number(rows[0]?.count ?? 0) < questions) continue
    const alert = await raiseAlert(tx, { tenant_id, scope, subject, questions, now })
    return { approval: undefined, isNew: alert.refused === 1, alert }
  }
  return undefined
}

interface RaisedAlert extends Pick<ApprovalAlert, 'scope' | 'subject' | 'questions'> {
  readonly tenant_id: string
  readonly now: number
}

/** One alert an hour for each subject; further refusals are counted in it. */
async function raiseAlert(tx: Tx, { now, ...alert }: RaisedAlert): Promise<ApprovalAlert> {
  const isOver = sql`approval_alerts.since not between ${now - HOUR_MS + 1} and ${now}`
  const first = { ...alert, refused: 1, since: now, last_at: now }
  const row = await insert(tx, approvalAlerts, first, {
    questions: alert.questions,
    refused: sql`case when ${isOver} then 1 else approval_alerts.refused + 1 end`,
    since: sql`case when ${isOver} then ${now} else approval_alerts.since end`,
    last_at: now,
  })
  // An insert that replaces always returns its row.
  return row as ApprovalAlert
}
