/** Windows that began while the clock was ahead: without a limit they would last until the clock is there again. */
import { sql } from 'kysely'
import type { GuardRequest } from '../../engine/core/guard-state.ts'
import { DAY_MS } from '../../engine/guard/guard.ts'
import type { GuardEntry } from '../../engine/guard/guard-entry.ts'
import { APPROVAL_MESSAGE } from '../stores/approval-store.ts'
import type { LongestWindows } from '../stores/audit-store.ts'
import { FINISH_WITHIN_MS } from './runs/run-state.ts'
import { type QueryBuilder, readNow, type SqlDatabase } from './sql-database.ts'

/** The entry of a guard, with at most one whole window left. */
export function clampGuardEntry(request: GuardRequest, entry: GuardEntry, now: number): GuardEntry {
  const latest = now + guardWindowMs(request)
  return entry.until > latest ? { ...entry, until: latest } : entry
}

/** A budget has no window: it never expires. */
function guardWindowMs(request: GuardRequest): number {
  if (request.kind === 'budget') return Number.POSITIVE_INFINITY
  return 'windowMs' in request ? request.windowMs : DAY_MS
}

/** Shortens the windows of every tenant. Returns how many. */
export async function clampWindows(
  db: SqlDatabase,
  longest: LongestWindows,
  given: number | undefined,
): Promise<number> {
  return db.system(async (trx) => {
    const now = await readNow(trx, db, given)
    const clamp = async (table: string, time: string, latest: number, where = sql`true`) => {
      const column = sql.ref(time)
      const { numAffectedRows } =
        await sql`update ${sql.table(table)} set ${column} = ${latest} where ${column} > ${latest} and ${where}`.execute(
          trx,
        )
      return Number(numAffectedRows ?? 0)
    }
    const leases = await clamp('deliveries', 'due_at', now + longest.lease_ms, sql`state = 'leased'`)
    const retries = await clamp(
      'deliveries',
      'due_at',
      now + longest.retry_ms,
      sql`state = 'waiting' and kind <> ${APPROVAL_MESSAGE}`,
    )
    const answers = await clamp('idempotency', 'expires_at', now + longest.answer_ms)
    const guards = await clamp('guard_state', 'until', now + longest.guard_ms, sql`key not like 'budget|%'`)
    const runs = await clampRuns(trx, now)
    const runners = await clamp('runners', 'last_seen_at', now)
    const finishes = await clamp('runs', 'finish_due_at', now + FINISH_WITHIN_MS, sql`finish_pending`)
    return leases + retries + answers + guards + runs + runners + finishes + (await clampApprovals(trx, now))
  })
}

/** Each run has its own windows. */
async function clampRuns(trx: QueryBuilder, now: number): Promise<number> {
  const latest = sql`${now} + case when status = 'pending' then claim_within_ms else coalesce(lease_ms, 0) end`
  const { numAffectedRows } = await sql`update runs set due_at = ${latest} where due_at > ${latest}`.execute(
    trx,
  )
  return Number(numAffectedRows ?? 0)
}

/** Each approval has its own window, and so have its messages; a grant keeps at most the length that it was given. */
async function clampApprovals(trx: QueryBuilder, now: number): Promise<number> {
  const pending = await sql`update approvals
    set deadline_at = ${now} + deadline_at - created_at, created_at = ${now}
    where status = 'pending' and created_at > ${now}`.execute(trx)
  const grants = await sql`update approvals
    set granted_until = ${now} + granted_until - decided_at, decided_at = ${now}
    where granted_until is not null and decided_at > ${now}`.execute(trx)
  const messages = await sql`update deliveries
    set due_at = ${now} + due_at - created_at, created_at = ${now}
    where kind = ${APPROVAL_MESSAGE} and state = 'waiting' and created_at > ${now}`.execute(trx)
  const changed = [pending, grants, messages].map(({ numAffectedRows }) => Number(numAffectedRows ?? 0))
  return changed.reduce((sum, count) => sum + count, 0)
}
