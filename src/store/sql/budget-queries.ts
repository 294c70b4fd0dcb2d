import { monthStart } from '../../engine/core/clock.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { BudgetRow, GuardStore } from '../stores/guard-store.ts'
import { type QueryBuilder, readNow, type SqlDatabase } from './sql-database.ts'

const WARN_BELOW = 0.2
const DAY_MS = 86_400_000

type BudgetQueries = Pick<GuardStore, 'readBudget' | 'spendBudget' | 'setBudget'>

export function budgetQueries(db: SqlDatabase): BudgetQueries {
  return {
    readBudget: (tenant, total, given) =>
      db.tenant(tenant, async (trx) =>
        lockMonth(trx, db, { tenant, now: await readNow(trx, db, given), total }),
      ),

    spendBudget: (tenant, tokens, total, given) =>
      db.tenant(tenant, async (trx) => {
        if (!(tokens >= 0)) throw serverError('gateway.request', 'tokens: must be 0 or more')
        const now = await readNow(trx, db, given)
        const before = await lockMonth(trx, db, { tenant, now, total })
        const remaining = before.remaining - tokens
        const warn = before.last_warned_at === null && remaining < before.budget_total * WARN_BELOW
        await writeBudget(
          trx,
          { ...before, remaining, last_warned_at: warn ? now : before.last_warned_at },
          now,
        )
        return { remaining, warn }
      }),

    setBudget: (tenant, total, given) =>
      db.tenant(tenant, async (trx) => {
        const now = await readNow(trx, db, given)
        const before = await lockMonth(trx, db, { tenant, now, total })
        const spent = before.budget_total - before.remaining
        const after = { ...before, budget_total: total, remaining: total - spent }
        await writeBudget(trx, after, now)
        return after
      }),
  }
}

/** Returns this month's row, created or reset if needed, and locks it until the transaction ends. */
async function lockMonth(
  trx: QueryBuilder,
  { codec }: SqlDatabase,
  { tenant, now, total }: { tenant: string; now: number; total: number },
): Promise<BudgetRow> {
  const month_start = monthStart(now)
  const fresh = {
    tenant_id: tenant,
    month_start,
    budget_total: total,
    remaining: total,
    last_warned_at: null,
  }
  // Updates an existing row, so that two spenders on PostgreSQL wait for each other here.
  const row = await trx
    .insertInto('tenant_hook_budget')
    .values({ ...fresh, metadata: codec.json({}), updated_at: now })
    .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet({ updated_at: now }))
    .returning(['tenant_id', 'month_start', 'budget_total', 'remaining', 'last_warned_at'])
    .executeTakeFirstOrThrow()
  if (row.month_start === month_start || isNextMonth(row.month_start, now)) return row
  // The clock was ahead when this month began: it becomes the current one, and spent tokens stay spent.
  const kept =
    row.month_start > month_start ? row : { ...row, remaining: row.budget_total, last_warned_at: null }
  const started = { ...kept, month_start }
  await writeBudget(trx, started, now)
  return started
}

/** Clocks that differ a little do not start the next month twice. */
function isNextMonth(month: number, now: number): boolean {
  return month > now && month - now < DAY_MS
}

async function writeBudget(trx: QueryBuilder, { tenant_id, ...row }: BudgetRow, now: number): Promise<void> {
  await trx
    .updateTable('tenant_hook_budget')
    .set({ ...row, updated_at: now })
    .where('tenant_id', '=', tenant_id)
    .execute()
}
