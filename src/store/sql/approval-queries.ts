import { type Selectable, sql } from 'kysely'
import { stableJson } from '../../engine/core/stable-json.ts'
import { parseStoredJson } from '../../safe/json.ts'
import type { Secrets } from '../../safe/secret.ts'
import { approvalPath } from '../paths.ts'
import {
  APPROVAL_HINT_CHANNEL,
  type ApprovalAnswer,
  type ApprovalFilter,
  type ApprovalKey,
  type ApprovalRow,
  type ApprovalStore,
  type ApprovalVote,
  approvalStatuses,
} from '../stores/approval-store.ts'
import {
  type AnswerAt,
  type ApprovalAt,
  type approvalRouteQueries,
  cancelMessages,
  queueMessages,
  refuseOverBudget,
  takeLink,
} from './approval-route-queries.ts'
import { openSealed } from './audit/event-queries.ts'
import { readUnion } from './column-values.ts'
import { pageFromRows, readNumberCursor } from './page-cursor.ts'
import type { CountSealed } from './runs/run-queries.ts'
import { isUniqueViolation, type QueryBuilder, readNow, type SqlDatabase } from './sql-database.ts'
import type { Tables } from './tables.ts'

type StoredApproval = Selectable<Tables['approvals']>
type ApprovalQueries = Omit<ApprovalStore, keyof ReturnType<typeof approvalRouteQueries>>

export function approvalQueries(db: SqlDatabase, countSealed: CountSealed): ApprovalQueries {
  const { secrets } = db
  const requestApproval: ApprovalStore['requestApproval'] = async (approval, given) => {
    try {
      const result = await db.tenant(approval.tenant_id, async (trx) => {
        const now = await readNow(trx, db, given)
        const known = await findUsable(db, trx, { approval, now })
        if (known !== undefined) {
          await hintReturn(db, trx, known)
          return { approval: readApproval(secrets, known), isNew: false, expired: [] }
        }
        const refused = await refuseOverBudget(trx, { approval, now })
        if (refused !== undefined) return refused
        const expired = await expireSameCall(trx, { approval, now })
        const row = await insertApproval(db, trx, { approval, now })
        await queueMessages(db, trx, { approval, now })
        return { approval: readApproval(secrets, row), isNew: true, expired }
      })
      if (result.isNew && result.approval !== undefined)
        await countSealed(1 + (approval.messages?.length ?? 0))
      return result
    } catch (error) {
      // The same call asked at the same time on another connection, and its question is now visible.
      if (isUniqueViolation(error)) return requestApproval(approval, given)
      throw error
    }
  }
  return {
    requestApproval,

    async answerApproval(tenant, approvalId, answer, given) {
      const result = await db.tenant(tenant, async (trx) => {
        const row = await findRow(db, trx, { tenant, approvalId, lock: true })
        if (row === undefined) return undefined
        const now = await readNow(trx, db, given)
        const before = readApproval(secrets, row)
        const isOpen = row.status === 'pending' && row.deadline_at > now
        const hasVoted = before.votes.some(({ by }) => by === answer.by)
        if (
          !isOpen ||
          hasVoted ||
          isUnseenEdit(before, answer) ||
          !(await takeLink(trx, { before, answer, now }))
        )
          return { approval: before, counted: false }
        const approval = await writeAnswer(db, trx, { before, answer, now })
        if (approval.status !== 'pending')
          await cancelMessages(trx, { keys: [approval], now, because: `${approval.status} by ${answer.by}` })
        return { approval, counted: true }
      })
      if (result?.counted) await countSealed(1)
      return result
    },

    endApproval: (tenant, approvalId, { status, by }, given) =>
      db.tenant(tenant, async (trx) => {
        const now = await readNow(trx, db, given)
        const keys = await trx
          .updateTable('approvals')
          .set({ status, decided_by: by, decided_at: now })
          .where('tenant_id', '=', tenant)
          .where('approval_id', '=', approvalId)
          .where('status', '=', 'pending')
          .returning(['tenant_id', 'approval_id'])
          .execute()
        await cancelMessages(trx, { keys, now, because: `${status}: ${by}` })
        return keys.length > 0
      }),

    useApproval: (tenant, approvalId, given) =>
      db.tenant(tenant, async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('approvals')
          .set({ used_at: db.codec.now(given) })
          .where('tenant_id', '=', tenant)
          .where('approval_id', '=', approvalId)
          .where('used_at', 'is', null)
          .executeTakeFirst()
        return numUpdatedRows > 0
      }),

    findApproval: (tenant, approvalId) =>
      db.tenant(tenant, async (trx) => {
        const row = await findRow(db, trx, { tenant, approvalId, lock: false })
        return row && readApproval(secrets, row)
      }),

    listApprovals: (tenant, filter, { cursor, limit }, given) =>
      db.tenant(tenant, async (trx) => {
        const from = cursor ? readNumberCursor(cursor) : undefined
        const rows = await selectApprovals(trx, tenant, filter)
          .$if(filter.granted === true, (query) =>
            query.where('status', '=', 'approved').where('granted_until', '>', db.codec.now(given)),
          )
          .$if(from !== undefined, (query) =>
            query.where((eb) =>
              eb(eb.refTuple('created_at', 'position'), '<', eb.tuple(from?.time ?? 0, from?.key ?? 0)),
            ),
          )
          .orderBy('created_at', 'desc')
          .orderBy('position', 'desc')
          .limit(limit + 1)
          .execute()
        const page = pageFromRows(rows, limit, (row) => ({ time: row.created_at, key: row.position }))
        return { ...page, rows: page.rows.map((row) => readApproval(secrets, row)) }
      }),

    countPendingApprovals: (tenant) =>
      db.tenant(tenant, async (trx) => {
        const row = await selectApprovals(trx, tenant, { status: 'pending' })
          .clearSelect()
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .executeTakeFirst()
        return Number(row?.count ?? 0)
      }),

    endedApprovals: (approvalIds) =>
      db.system(async (trx) => {
        if (approvalIds.length === 0) return []
        return trx
          .selectFrom('approvals')
          .select(['tenant_id', 'approval_id'])
          .where('approval_id', 'in', approvalIds)
          .where('status', '<>', 'pending')
          .execute()
      }),

    expireApprovals: (limit, given) =>
      db.system(async (trx) => {
        const now = await readNow(trx, db, given)
        const due = trx
          .selectFrom('approvals')
          .select('position')
          .where(sql<boolean>`status = 'pending'`)
          .where('deadline_at', '<=', now)
          .orderBy('deadline_at')
          .limit(limit)
        const keys = await trx
          .updateTable('approvals')
          .set({ status: 'expired', decided_at: now })
          .where('position', 'in', due)
          .where('status', '=', 'pending')
          .returning(['tenant_id', 'approval_id'])
          .execute()
        await cancelMessages(trx, { keys, now, because: 'the deadline has passed' })
        return keys
      }),

    revokeGrant: (tenant, approvalId, given) =>
      db.tenant(tenant, async (trx) => {
        const now = await readNow(trx, db, given)
        const { numUpdatedRows } = await trx
          .updateTable('approvals')
          .set({ granted_until: now })
          .where('tenant_id', '=', tenant)
          .where('approval_id', '=', approvalId)
          .where('granted_until', '>', now)
          .executeTakeFirst()
        return numUpdatedRows > 0
      }),
  }
}

/** Tells the other nodes that a caller waits here now, so that the node it came from does not cancel the question. */
async function hintReturn({ dialect }: SqlDatabase, trx: QueryBuilder, row: StoredApproval): Promise<void> {
  if (dialect !== 'postgres' || row.status !== 'pending') return
  await sql`select pg_notify(${APPROVAL_HINT_CHANNEL}, ${row.approval_id})`.execute(trx)
}

/**
 * The question, the unused answer or the grant that an identical call of the session already has; the latest counts. The
 * event that asked finds its own answer again, also a used one: its node may have ended before the caller got it.
 */
async function findUsable(
  { dialect }: SqlDatabase,
  trx: QueryBuilder,
  { approval: { tenant_id, session_id, input_hash, event_id }, now }: ApprovalAt,
): Promise<StoredApproval | undefined> {
  const open = sql<boolean>`status = 'pending' and deadline_at > ${now}`
  const unused = sql<boolean>`status in ('approved', 'denied') and used_at is null and deadline_at > ${now}`
  const granted = sql<boolean>`status = 'approved' and granted_until > ${now}`
  const own = sql<boolean>`status <> 'pending' and event_id = ${event_id}`
  return trx
    .selectFrom('approvals')
    .selectAll()
    .where('tenant_id', '=', tenant_id)
    .where('input_hash', '=', input_hash)
    .where('session_id', session_id === null ? 'is' : '=', session_id)
    .where((eb) => eb.or([open, unused, granted, own]))
    .orderBy('position', 'desc')
    .limit(1)
    .$if(dialect === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst()
}

/** A question about the same call whose deadline has passed would be in the way of a new one until the next sweep. */
async function expireSameCall(
  trx: QueryBuilder,
  { approval, now }: ApprovalAt,
): Promise<readonly ApprovalKey[]> {
  const late = await trx
    .updateTable('approvals')
    .set({ status: 'expired', decided_at: now })
    .where('tenant_id', '=', approval.tenant_id)
    .where('input_hash', '=', approval.input_hash)
    .where('status', '=', 'pending')
    .where('deadline_at', '<=', now)
    .returning(['tenant_id', 'approval_id'])
    .execute()
  await cancelMessages(trx, { keys: late, now, because: 'the deadline has passed' })
  return late
}

async function insertApproval(
  { secrets }: SqlDatabase,
  trx: QueryBuilder,
  { approval, now }: ApprovalAt,
): Promise<StoredApproval> {
  const { within_ms, what, reason, input, messages: _, budget: __, ...columns } = approval
  const { tenant_id, approval_id } = approval
  return trx
    .insertInto('approvals')
    .values({
      ...columns,
      content: secrets.encrypt(
        JSON.stringify({ what, reason, input }),
        approvalPath(tenant_id, approval_id, 'content'),
      ),
      status: 'pending',
      answers: null,
      created_at: now,
      deadline_at: now + within_ms,
      decided_at: null,
      decided_by: null,
      used_at: null,
      granted_until: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Someone else has edited the arguments, and this person approves without naming them: it may not have seen the edit. */
function isUnseenEdit({ edited }: ApprovalRow, answer: ApprovalAnswer): boolean {
  return answer.verdict === 'approve' && edited !== null && answer.edited === undefined
}

async function writeAnswer(
  { secrets }: SqlDatabase,
  trx: QueryBuilder,
  { before, answer, now }: AnswerAt,
): Promise<ApprovalRow> {
  const { tenant_id, approval_id, approvers_needed } = before
  const { verdict, by, from, message, grant_ms } = answer
  const vote: ApprovalVote = { verdict, by, from, at: now, ...(message === undefined ? {} : { message }) }
  const isNewEdit =
    answer.edited !== undefined && stableJson(answer.edited) !== stableJson(before.edited ?? before.input)
  // Who approved other arguments has not approved these, and may answer again.
  const votes = [...(isNewEdit ? [] : before.votes), vote]
  const edited = answer.edited === undefined ? before.edited : answer.edited
  const approved = votes.filter((each) => each.verdict === 'approve').length >= approvers_needed
  const status = verdict === 'deny' ? 'denied' : approved ? 'approved' : 'pending'
  const isDecided = status !== 'pending'
  const row = await trx
    .updateTable('approvals')
    .set({
      answers: secrets.encrypt(
        JSON.stringify({ votes, edited }),
        approvalPath(tenant_id, approval_id, 'answers'),
      ),
      status,
      ...(isDecided ? { decided_at: now, decided_by: by } : {}),
      ...(status === 'approved' && grant_ms !== undefined ? { granted_until: now + grant_ms } : {}),
    })
    .where('tenant_id', '=', tenant_id)
    .where('approval_id', '=', approval_id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return readApproval(secrets, row)
}

async function findRow(
  { dialect }: SqlDatabase,
  trx: QueryBuilder,
  { tenant, approvalId, lock }: { tenant: string; approvalId: string; lock: boolean },
): Promise<StoredApproval | undefined> {
  return trx
    .selectFrom('approvals')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('approval_id', '=', approvalId)
    .$if(lock && dialect === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst()
}

function selectApprovals(trx: QueryBuilder, tenant: string, filter: ApprovalFilter) {
  const { status, session_id, run_id, input_hash, agent, hook_id } = filter
  return trx
    .selectFrom('approvals')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .$if(status !== undefined, (query) => query.where(sql<boolean>`status = ${sql.lit(status)}`))
    .$if(session_id !== undefined, (query) => query.where('session_id', '=', session_id ?? ''))
    .$if(agent !== undefined, (query) => query.where('agent', '=', agent ?? ''))
    .$if(hook_id !== undefined, (query) => query.where('hook_id', '=', hook_id ?? ''))
    .$if(run_id !== undefined, (query) => query.where('run_id', '=', run_id ?? ''))
    .$if(input_hash !== undefined, (query) => query.where('input_hash', '=', input_hash ?? ''))
}

interface Content {
  readonly what: string | null
  readonly reason: string
  readonly input: unknown
}

const unreadable: Content = {
  what: null,
  reason: 'The text cannot be read: the key that sealed it is gone.',
  input: null,
}

function readApproval(secrets: Secrets, row: StoredApproval): ApprovalRow {
  const { content, answers, status, position: _, ...columns } = row
  const path = (column: 'content' | 'answers') => approvalPath(row.tenant_id, row.approval_id, column)
  const opened = openSealed(secrets, content, path('content'))
  const answered = answers === null ? undefined : openSealed(secrets, answers, path('answers'))
  return {
    ...columns,
    ...(opened === undefined ? unreadable : (parseStoredJson(opened) as Content)),
    status: readUnion(approvalStatuses, status),
    edited: null,
    ...(answered === undefined
      ? { votes: [] }
      : (parseStoredJson(answered) as { votes: readonly ApprovalVote[]; edited: unknown })),
  }
}
