import { inTenantAt, operation, type Tx, timed } from '../../database/operation.ts'
import { insert, update } from '../../database/rows.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { GuardRequest, Pass } from '../../engine/core/guard-state.ts'
import { monthStart } from '../../engine/core/time/clock.ts'
import { DAY_MS } from '../../engine/guard/guard.ts'
import { checkEntry } from '../../engine/guard/guard-entry.ts'
import { type BudgetRow, budgets } from '../../secrets/secret-tables.ts'
import { armingGuards, holdGuards } from './guard-windows.ts'

const WARN_BELOW = 0.2

export const guardOperations = {
  /**
   * Checks all guards and arms all or none, atomically. Same rules and texts as `memoryGuardState`. A window that ends later
   * than its length allows is shortened, because the clock was ahead when it began.
   */
  takeGuards: operation(
    timed,
    async (
      call,
      tenant: string,
      requests: readonly GuardRequest[],
      now?: number,
    ): Promise<readonly Pass[]> => {
      if (requests.length === 0) return []
      return armingGuards(call, tenant, now, async (tx) => {
        const guards = await holdGuards(tx, tenant, requests)
        const passes = requests.map((request) => checkEntry(request, guards.of(request), guards.now))
        if (passes.every(({ pass }) => pass)) for (const request of requests) guards.arm(request)
        await guards.store()
        return passes
      })
    },
  ),

  /** This month's budget. A new month starts with the total; a tenant without a budget gets `total`. */
  readBudget: inTenantAt(
    async (tx, tenant: string, total: number) => lockMonth(tx, tenant, total, await tx.time()),
    timed,
  ),

  /** Subtracts used tokens; `remaining` may become negative. `warn` is true once per month, when less than a fifth is left. */
  spendBudget: inTenantAt(async (tx, tenant: string, tokens: number, total: number) => {
    if (!(tokens >= 0)) throw serverError('gateway.request', 'tokens: must be 0 or more')
    const now = await tx.time()
    const before = await lockMonth(tx, tenant, total, now)
    const remaining = before.remaining - tokens
    const warn = before.last_warned_at === null && remaining < before.budget_total * WARN_BELOW
    await writeBudget(tx, { ...before, remaining, last_warned_at: warn ? now : before.last_warned_at }, now)
    return { remaining, warn }
  }, timed),

  /** Sets the total. Tokens spent this month stay spent. */
  setBudget: inTenantAt(async (tx, tenant: string, total: number) => {
    const now = await tx.time()
    const before = await lockMonth(tx, tenant, total, now)
    const spent = before.budget_total - before.remaining
    const after = { ...before, budget_total: total, remaining: total - spent }
    await writeBudget(tx, after, now)
    return after
  }, timed),
}

/** Returns this month's row, created or reset if needed, and locks it until the transaction ends. */
async function lockMonth(tx: Tx, tenant_id: string, total: number, now: number): Promise<BudgetRow> {
  const month_start = monthStart(now)
  const fresh = { tenant_id, month_start, budget_total: total, remaining: total, last_warned_at: null }
  // Updates an existing row, so that two spenders on PostgreSQL wait for each other here.
  const row =
    (await insert(tx, budgets, { ...fresh, metadata: {}, updated_at: now }, { updated_at: now })) ?? fresh
  if (row.month_start === month_start || isNextMonth(row.month_start, now)) return row
  // The clock was ahead when this month began: it becomes the current one, and spent tokens stay spent.
  const kept =
    row.month_start > month_start ? row : { ...row, remaining: row.budget_total, last_warned_at: null }
  const started = { ...kept, month_start }
  await writeBudget(tx, started, now)
  return started
}

/** Clocks that differ a little do not start the next month twice. */
function isNextMonth(month: number, now: number): boolean {
  return month > now && month - now < DAY_MS
}

async function writeBudget(tx: Tx, { tenant_id, ...row }: BudgetRow, now: number): Promise<void> {
  await update(tx, budgets, { tenant_id }, { ...row, updated_at: now })
}
