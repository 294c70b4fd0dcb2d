import { sql } from 'kysely'
import { inSystem, inTenant, inTenantOf, operation, type Tx, timed } from '../../database/operation.ts'
import { pageFromRows, readNumberCursor } from '../../database/page-cursor.ts'
import { insert, lockRow, matches, type PageRequest, readRows, update } from '../../database/rows.ts'
import { isUniqueViolation } from '../../database/sql-database.ts'
import type { WholeRowOf } from '../../database/table.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { stableJson } from '../../engine/core/values/stable-json.ts'
import { cancelMessages, queueMessages, refuseOverBudget, takeLink } from './approval-route-operations.ts'
import {
  APPROVAL_HINT_CHANNEL,
  type ApprovalAnswer,
  type ApprovalFilter,
  type ApprovalKey,
  type ApprovalRequestResult,
  type ApprovalRow,
  type ApprovalVote,
  approvals,
  type RoutedApproval,
} from './approval-tables.ts'

type WholeApproval = WholeRowOf<typeof approvals>
/** A pending approval that must not be pending any longer. */
const isPending = sql`status = 'pending'`

/** Questions to people. */
export const approvalOperations = {
  /**
   * Stores a question, unless its call has one: its own, or that of an identical call of the session that no longer waits for
   * it, with the answer that a person may have given meanwhile. The call then owns question and answer, and the answer is
   * used. A grant that still counts is returned as it is. `isNew` tells whether the question was stored. Its messages are
   * queued in the same transaction.
   */
  requestApproval: operation(timed, async (call, approval: RoutedApproval, given?: number) => {
    const request = (tx: Tx) => requestApproval(tx, approval, given)
    for (;;) {
      try {
        return await inTenantOf(call, approval, request)
      } catch (error) {
        // The same call asked at the same time on another connection, and its question is now visible.
        if (!isUniqueViolation(error)) throw error
      }
    }
  }),

  /**
   * Counts an answer. Without `counted`, another answer, an edit, the deadline or the caller was faster. Undefined: there is
   * none.
   */
  answerApproval: inTenant(
    async (tx, tenant: string, approval_id: string, answer: ApprovalAnswer, given?: number) => {
      const row = await lockRow(tx, approvals, { tenant_id: tenant, approval_id })
      if (row === undefined) return undefined
      const now = await tx.time(given)
      const before = readApproval(row)
      const isOpen = row.status === 'pending' && row.deadline_at > now
      const hasVoted = before.votes.some((vote) => isSameVoter(vote, answer))
      if (!isOpen || hasVoted || isUnseenEdit(before, answer) || !(await takeLink(tx, before, answer, now)))
        return { approval: before, counted: false }
      const approval = await writeAnswer(tx, row, answer, now)
      if (approval.status !== 'pending')
        await cancelMessages(tx, { keys: [approval], now, because: `${approval.status} by ${answer.by}` })
      return { approval, counted: true }
    },
    timed,
  ),

  /** Ends a pending approval without an answer. False if it is not pending. */
  endApproval: inTenant(
    async (
      tx,
      tenant: string,
      approval_id: string,
      { status, by }: { readonly status: 'cancelled' | 'superseded'; readonly by: string },
      given?: number,
    ) => {
      const now = await tx.time(given)
      const pending = { tenant_id: tenant, approval_id, status: 'pending' } as const
      const ended = await update(tx, approvals, pending, { status, decided_by: by, decided_at: now })
      await cancelMessages(tx, { keys: ended, now, because: `${status}: ${by}` })
      return ended.length > 0
    },
    timed,
  ),

  /** Takes the answer for the call of an event. False if it was used, or if another call has taken the question over. */
  useApproval: inTenant(async (tx, tenant: string, approval_id: string, event_id: string, now?: number) => {
    const unused = { tenant_id: tenant, approval_id, event_id, used_at: null }
    const isAnswered = sql`status in ('approved', 'denied')`
    return (await update(tx, approvals, unused, { used_at: tx.now(now) }, [isAnswered])).length > 0
  }, timed),

  /**
   * The callers of these questions no longer wait: identical calls may take them over. Without ids, on SQLite: those of all,
   * because its only process has just started.
   */
  releaseApprovals: inSystem(async (tx, approvalIds?: readonly string[]): Promise<void> => {
    if (approvalIds === undefined ? tx.db.dialect === 'postgres' : approvalIds.length === 0) return
    const those = approvalIds === undefined ? [] : [sql`approval_id in (${sql.join(approvalIds)})`]
    await update(tx, approvals, {}, { waits_until: null }, [sql`waits_until is not null`, ...those])
  }),

  findApproval: inTenant(async (tx, tenant: string, approval_id: string) => {
    const { rows } = await sql`select * from approvals
      where tenant_id = ${tenant} and approval_id = ${approval_id}`.execute(tx.trx)
    return readApprovals(tx, rows)[0]
  }),

  listApprovals: inTenant(
    async (
      tx,
      tenant: string,
      { granted, status, ...filter }: ApprovalFilter,
      { cursor, limit }: PageRequest,
      now?: number,
    ) => {
      const from = cursor ? readNumberCursor(cursor) : undefined
      const conditions = [
        ...matches(tx, approvals, { tenant_id: tenant, ...filter }),
        // A literal, because a partial index serves no parameter.
        ...(status === undefined ? [] : [sql`status = ${sql.lit(status)}`]),
        ...(granted === true ? [sql`status = 'approved' and granted_until > ${tx.now(now)}`] : []),
        ...(from === undefined ? [] : [sql`(created_at, position) < (${from.time}, ${from.key})`]),
      ]
      const { rows } = await sql`select * from approvals where ${sql.join(conditions, sql` and `)}
        order by created_at desc, position desc limit ${limit + 1}`.execute(tx.trx)
      const whole = readRows<typeof approvals, WholeApproval>(tx, approvals, rows)
      const page = pageFromRows(whole, limit, (row) => ({ time: row.created_at, key: row.position }))
      return { ...page, rows: page.rows.map(readApproval) }
    },
    timed,
  ),

  countPendingApprovals: inTenant(async (tx, tenant: string) => {
    const { rows } = await sql<{ count: number }>`select count(*) as count from approvals
      where tenant_id = ${tenant} and ${isPending}`.execute(tx.trx)
    return Number(rows[0]?.count ?? 0)
  }),

  /** How many pending questions there are about calls with each of these hashes. */
  countIdenticalApprovals: inTenant(
    async (tx, tenant: string, hashes: readonly string[]): Promise<Readonly<Record<string, number>>> => {
      if (hashes.length === 0) return {}
      const { rows } = await sql<{ input_hash: string; count: number }>`select input_hash, count(*) as count
        from approvals where tenant_id = ${tenant} and ${isPending} and input_hash in (${sql.join(hashes)})
        group by input_hash`.execute(tx.trx)
      return Object.fromEntries(rows.map(({ input_hash, count }) => [input_hash, Number(count)]))
    },
  ),

  /** Those of the given approvals that are no longer pending, of any tenant. */
  endedApprovals: inSystem(async (tx, approvalIds: readonly string[]): Promise<readonly ApprovalKey[]> => {
    if (approvalIds.length === 0) return []
    const { rows } = await sql<ApprovalKey>`select tenant_id, approval_id from approvals
        where approval_id in (${sql.join(approvalIds)}) and status <> 'pending'`.execute(tx.trx)
    return rows
  }),

  /** Ends approvals whose deadline has passed, of any tenant; at most `limit`. */
  expireApprovals: inSystem(async (tx, limit: number, given?: number): Promise<readonly ApprovalKey[]> => {
    const now = await tx.time(given)
    const due = sql`position in (
      select position from approvals where ${isPending} and deadline_at <= ${now} order by deadline_at limit ${limit})`
    return expire(tx, {}, due, now)
  }, timed),

  /** Ends a grant: the next identical call is asked about again. False if none is in force. */
  revokeGrant: inTenant(async (tx, tenant: string, approval_id: string, given?: number) => {
    const now = await tx.time(given)
    const key = { tenant_id: tenant, approval_id }
    const isGranted = [sql`granted_until > ${now}`]
    return (await update(tx, approvals, key, { granted_until: now }, isGranted)).length > 0
  }, timed),
}

async function requestApproval(
  tx: Tx,
  approval: RoutedApproval,
  given: number | undefined,
): Promise<ApprovalRequestResult> {
  const now = await tx.time(given)
  const known = await findUsable(tx, approval, now)
  if (known !== undefined) {
    const taken = await takeOver(tx, known, approval, now)
    await hintReturn(tx, taken)
    return { approval: readApproval(taken), isNew: false, expired: [] }
  }
  const refused = await refuseOverBudget(tx, approval, now)
  if (refused !== undefined) return refused
  const { tenant_id, approval_id, input_hash } = approval
  // A question about the same call whose deadline has passed would be in the way of a new one until the next sweep.
  const expired = await expire(tx, { tenant_id, input_hash }, sql`deadline_at <= ${now}`, now)
  const { within_ms, wait_ms, what, reason, input, messages: _, budget: __, ...columns } = approval
  await insert(tx, approvals, {
    ...columns,
    content: { what, reason, input },
    status: 'pending',
    created_at: now,
    deadline_at: now + within_ms,
    waits_until: now + wait_ms,
  })
  await queueMessages(tx, approval, now)
  const row = await lockRow(tx, approvals, { tenant_id, approval_id })
  // It was just inserted.
  return { approval: readApproval(row as WholeApproval), isNew: true, expired }
}

/** Ends pending approvals whose deadline has passed, with their messages. */
async function expire(
  tx: Tx,
  match: { readonly tenant_id?: string; readonly input_hash?: string },
  isDue: ReturnType<typeof sql>,
  now: number,
): Promise<readonly ApprovalKey[]> {
  const pending = { ...match, status: 'pending' } as const
  const ended = await update(tx, approvals, pending, { status: 'expired', decided_at: now }, [isDue])
  const keys = ended.map(({ tenant_id, approval_id }) => ({ tenant_id, approval_id }))
  await cancelMessages(tx, { keys, now, because: 'the deadline has passed' })
  return keys
}

/**
 * The votes of a removed member no longer count. An approval that it took part in ends, with its grant, unless its call has
 * run.
 */
export async function withdrawVotes(
  tx: Tx,
  { member, tenant_id, now }: { readonly member: string; readonly tenant_id: string; readonly now: number },
): Promise<void> {
  const { rows } = await sql`select * from approvals where tenant_id = ${tenant_id} and answers is not null
    and (${isPending} or status = 'approved' and (used_at is null or granted_until > ${now}))
    ${tx.db.dialect === 'postgres' ? sql`for update` : sql``}`.execute(tx.trx)
  for (const row of readRows<typeof approvals, WholeApproval>(tx, approvals, rows)) {
    const { approval_id, status, used_at, answers } = row
    const votes = answers?.votes.filter((vote) => vote.member !== member)
    if (answers === null || votes === undefined || votes.length === answers.votes.length) continue
    const ended = { status: 'cancelled', decided_by: 'an approver was removed', decided_at: now } as const
    const changes =
      status === 'pending'
        ? { answers: { ...answers, votes } }
        : used_at === null
          ? ended
          : { granted_until: now }
    await update(tx, approvals, { tenant_id, approval_id }, changes)
  }
}

/** Tells the other nodes that a caller waits here now, so that the node it came from does not cancel the question. */
async function hintReturn({ db, trx }: Tx, row: WholeApproval): Promise<void> {
  if (db.dialect !== 'postgres' || row.status !== 'pending') return
  await sql`select pg_notify(${APPROVAL_HINT_CHANNEL}, ${row.approval_id})`.execute(trx)
}

/**
 * The question of the event itself, the question or unused answer of an identical call of the session whose caller no longer
 * waits, or a grant. The event finds its own answer again, also a used one: its node may have ended before the caller got it.
 * An approval is repeated once, because each repetition may let a call run.
 */
async function findUsable(
  tx: Tx,
  { tenant_id, session_id, input_hash, member_id, event_id, caller_id }: RoutedApproval,
  now: number,
): Promise<WholeApproval | undefined> {
  const isOwn = sql`event_id = ${event_id} and caller_id = ${caller_id}`
  const { rows } = await sql`select * from approvals
    where ${sql.join(matches(tx, approvals, { tenant_id, input_hash, session_id, member_id }), sql` and `)} and (
      (${isOwn} or waits_until is null or waits_until <= ${now}) and deadline_at > ${now}
        and (status = 'pending' or status in ('approved', 'denied') and used_at is null)
      or status = 'approved' and granted_until > ${now}
      or ${isOwn} and status <> 'pending' and (status <> 'approved' or repeated_at is null))
    order by case when ${isOwn} then 0 else 1 end, position desc
    limit 1 ${tx.db.dialect === 'postgres' ? sql`for update` : sql``}`.execute(tx.trx)
  return readRows<typeof approvals, WholeApproval>(tx, approvals, rows)[0]
}

/** The question or its answer belongs to this call from now on. A grant that others use too stays as it is. */
async function takeOver(
  tx: Tx,
  known: WholeApproval,
  { event_id, caller_id, wait_ms }: RoutedApproval,
  now: number,
): Promise<WholeApproval> {
  const { tenant_id, approval_id, status, used_at } = known
  const isOwn = known.event_id === event_id && known.caller_id === caller_id
  const changes =
    status === 'pending'
      ? { event_id, caller_id, waits_until: now + wait_ms }
      : used_at === null
        ? { event_id, caller_id, used_at: now }
        : isOwn
          ? { repeated_at: now }
          : undefined
  if (changes !== undefined) await update(tx, approvals, { tenant_id, approval_id }, changes)
  return { ...known, ...changes }
}

/** A member is one person, whichever of its tokens and links it uses. */
export function isSameVoter(
  one: Pick<ApprovalVote, 'by' | 'member'>,
  other: Pick<ApprovalVote, 'by' | 'member'>,
): boolean {
  return one.member === undefined || other.member === undefined
    ? one.by === other.by
    : one.member === other.member
}

/** Someone else has edited the arguments, and this person approves without naming them: it may not have seen the edit. */
function isUnseenEdit({ edited }: ApprovalRow, answer: ApprovalAnswer): boolean {
  return answer.verdict === 'approve' && edited !== null && answer.edited === undefined
}

async function writeAnswer(
  tx: Tx,
  row: WholeApproval,
  answer: ApprovalAnswer,
  now: number,
): Promise<ApprovalRow> {
  const before = readApproval(row)
  const { verdict, by, member, from, message, grant_ms } = answer
  const vote: ApprovalVote = { verdict, by, from, at: now, ...definedFields({ member, message }) }
  const isNewEdit =
    answer.edited !== undefined && stableJson(answer.edited) !== stableJson(before.edited ?? before.input)
  // Who approved other arguments has not approved these, and may answer again.
  const votes = [...(isNewEdit ? [] : before.votes), vote]
  const edited = answer.edited === undefined ? before.edited : answer.edited
  const approved = votes.filter((each) => each.verdict === 'approve').length >= before.approvers_needed
  const status = verdict === 'deny' ? 'denied' : approved ? 'approved' : 'pending'
  const changes = {
    answers: { votes, edited },
    status,
    ...(status === 'pending' ? {} : { decided_at: now, decided_by: by }),
    ...(status === 'approved' && grant_ms !== undefined ? { granted_until: now + grant_ms } : {}),
  } as const
  const { tenant_id, approval_id } = row
  await update(tx, approvals, { tenant_id, approval_id }, changes)
  return readApproval({ ...row, ...changes })
}

function readApprovals(tx: Tx, rows: readonly unknown[]): readonly ApprovalRow[] {
  return readRows<typeof approvals, WholeApproval>(tx, approvals, rows).map(readApproval)
}

const unreadable = {
  what: null,
  reason: 'The text cannot be read: the key that sealed it is gone.',
  input: null,
}

/** What callers see of an approval. */
function readApproval(row: WholeApproval): ApprovalRow {
  const {
    content,
    answers,
    position: _,
    waits_until: __,
    repeated_at: ___,
    caller_key: ____,
    ...columns
  } = row
  return { ...columns, ...(content ?? unreadable), edited: null, ...(answers ?? { votes: [] }) }
}
