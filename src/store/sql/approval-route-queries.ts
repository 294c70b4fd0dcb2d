import { sql } from 'kysely'
import {
  APPROVAL_MESSAGE,
  type ApprovalAlert,
  type ApprovalAnswer,
  type ApprovalKey,
  type ApprovalRequestResult,
  type ApprovalRow,
  type ApprovalStore,
  budgetScopes,
  type RoutedApproval,
} from '../stores/approval-store.ts'
import { readUnion } from './column-values.ts'
import { insertDeliveries } from './rules/mailbox-queries.ts'
import { type QueryBuilder, readNow, type SqlDatabase } from './sql-database.ts'

const HOUR_MS = 3_600_000
const verdicts = ['approve', 'deny'] as const
const messageStates = ['waiting', 'leased', 'dead', 'done'] as const

/** The ways on which questions reach people: links, messages, and alerts in place of too many questions. */
export function approvalRouteQueries(
  db: SqlDatabase,
): Pick<
  ApprovalStore,
  'createApprovalLinks' | 'findApprovalLink' | 'listApprovalMessages' | 'listApprovalAlerts'
> {
  return {
    async createApprovalLinks(links, given) {
      const [first] = links
      if (first === undefined) return
      await db.tenant(first.tenant_id, async (trx) => {
        const created_at = await readNow(trx, db, given)
        await trx
          .insertInto('approval_links')
          .values(links.map((link) => ({ ...link, created_at, used_at: null })))
          .execute()
      })
    },

    findApprovalLink: (linkId) =>
      db.system(async (trx) => {
        const row = await trx
          .selectFrom('approval_links')
          .selectAll()
          .where('link_id', '=', linkId)
          .executeTakeFirst()
        return row && { ...row, verdict: readUnion(verdicts, row.verdict) }
      }),

    listApprovalMessages: (tenant, approvalIds) =>
      db.tenant(tenant, async (trx) => {
        if (approvalIds.length === 0) return []
        const rows = await trx
          .selectFrom('deliveries')
          .select(['approval_id', 'dedup_key', 'state', 'attempts', 'due_at', 'last_error', 'updated_at'])
          .where('tenant_id', '=', tenant)
          .where('approval_id', 'in', approvalIds)
          .orderBy('due_at')
          .orderBy('dedup_key')
          .execute()
        return rows.map(({ approval_id, dedup_key, ...row }) => ({
          ...row,
          approval_id: approval_id ?? '',
          key: dedup_key.slice((approval_id ?? '').length + 1),
          state: readUnion(messageStates, row.state),
        }))
      }),

    listApprovalAlerts: (tenant, within_ms, given) =>
      db.tenant(tenant, async (trx) => {
        const now = await readNow(trx, db, given)
        const rows = await trx
          .selectFrom('approval_alerts')
          .select(['scope', 'subject', 'questions', 'refused', 'since', 'last_at'])
          .where('tenant_id', '=', tenant)
          .where('last_at', '>', now - within_ms)
          .orderBy('last_at', 'desc')
          .limit(100)
          .execute()
        return rows.map((row) => ({ ...row, scope: readUnion(budgetScopes, row.scope) }))
      }),
  }
}

export interface ApprovalAt {
  readonly approval: RoutedApproval
  readonly now: number
}

export interface AnswerAt {
  readonly before: ApprovalRow
  readonly answer: ApprovalAnswer
  readonly now: number
}

export async function queueMessages(
  db: SqlDatabase,
  trx: QueryBuilder,
  { approval, now }: ApprovalAt,
): Promise<void> {
  const { tenant_id, approval_id, messages = [] } = approval
  const deliveries = messages.map(({ id, key, payload, after_ms }) => ({
    ...{ id, tenant: tenant_id, kind: APPROVAL_MESSAGE, dedup_key: `${approval_id}/${key}`, payload },
    ...{ approval_id, due_at: now + after_ms, created_at: now },
  }))
  await insertDeliveries(db, trx, { deliveries, now })
}

interface CancelledMessages {
  readonly keys: readonly ApprovalKey[]
  readonly now: number
  readonly because: string
}

/** Cancels the messages of an ended question. A message that a worker is sending ends by itself. */
export async function cancelMessages(
  trx: QueryBuilder,
  { keys, now, because }: CancelledMessages,
): Promise<void> {
  for (const { tenant_id, approval_id } of keys)
    await trx
      .updateTable('deliveries')
      .set({ state: 'done', payload: '', lease: null, last_error: `not sent: ${because}`, updated_at: now })
      .where('tenant_id', '=', tenant_id)
      .where('approval_id', '=', approval_id)
      .where('state', '=', 'waiting')
      .execute()
}

/** Uses up the link of an answer. False if it was used, has expired, or belongs to another question, verdict or call. */
export async function takeLink(
  trx: QueryBuilder,
  { before, answer: { link_id, verdict }, now }: AnswerAt,
): Promise<boolean> {
  if (link_id === undefined) return true
  const { tenant_id, approval_id, input_hash } = before
  const { numUpdatedRows } = await trx
    .updateTable('approval_links')
    .set({ used_at: now })
    .where('link_id', '=', link_id)
    .where('tenant_id', '=', tenant_id)
    .where('approval_id', '=', approval_id)
    .where('input_hash', '=', input_hash)
    .where('verdict', '=', verdict)
    .where('expires_at', '>', now)
    .where('used_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0
}

/** Counts the questions of the last hour. Over the budget the question is not stored, and an alert is. */
export async function refuseOverBudget(
  trx: QueryBuilder,
  { approval, now }: ApprovalAt,
): Promise<Extract<ApprovalRequestResult, { approval: undefined }> | undefined> {
  const { tenant_id, session_id, agent, budget = {} } = approval
  // Calls that name no agent count together: leaving the name out must not be a way around the budget.
  const subjects = { session: session_id, agent: agent ?? '', tenant: '' }
  for (const scope of budgetScopes) {
    const [questions, subject] = [budget[scope], subjects[scope]]
    if (questions === undefined || subject === null) continue
    const latest = trx
      .selectFrom('approvals')
      .select('position')
      .where('tenant_id', '=', tenant_id)
      .where('created_at', '>', now - HOUR_MS)
      // A question that was asked while the clock was ahead would count until the clock is there again.
      .where('created_at', '<=', now)
      .$if(scope === 'session', (query) => query.where('session_id', '=', subject))
      .$if(scope === 'agent', (query) => query.where('agent', agent === null ? 'is' : '=', agent))
      .limit(questions)
    const asked = await trx
      .selectFrom(latest.as('latest'))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirst()
    if (Number(asked?.count ?? 0) < questions) continue
    const alert = await raiseAlert(trx, { tenant_id, scope, subject, questions, now })
    return { approval: undefined, isNew: alert.refused === 1, alert }
  }
  return undefined
}

interface RaisedAlert extends Pick<ApprovalAlert, 'scope' | 'subject' | 'questions'> {
  readonly tenant_id: string
  readonly now: number
}

/** One alert an hour for each subject; further refusals are counted in it. */
async function raiseAlert(
  trx: QueryBuilder,
  { now, questions, ...key }: RaisedAlert,
): Promise<ApprovalAlert> {
  const isOver = sql<boolean>`approval_alerts.since not between ${now - HOUR_MS + 1} and ${now}`
  const row = await trx
    .insertInto('approval_alerts')
    .values({ ...key, questions, refused: 1, since: now, last_at: now })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'scope', 'subject']).doUpdateSet({
        questions,
        refused: sql<number>`case when ${isOver} then 1 else approval_alerts.refused + 1 end`,
        since: sql<number>`case when ${isOver} then ${now} else approval_alerts.since end`,
        last_at: now,
      }),
    )
    .returning(['scope', 'subject', 'questions', 'refused', 'since', 'last_at'])
    .executeTakeFirstOrThrow()
  return { ...row, scope: key.scope }
}
