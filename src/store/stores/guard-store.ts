import type { GuardRequest, Pass } from '../../engine/core/guard-state.ts'

export interface BudgetRow {
  readonly tenant_id: string
  /** First day of the month, UTC, in ms. */
  readonly month_start: number
  readonly budget_total: number
  readonly remaining: number
  readonly last_warned_at: number | null
}

export interface GuardStore {
  /** Checks all and arms all, or arms none, in one step. Same rules and texts as `memoryGuardState`. */
  takeGuards(tenant: string, requests: readonly GuardRequest[], now: number): Promise<readonly Pass[]>
  /** The budget of this month; a new month starts with the total, a tenant without one gets `total`. */
  readBudget(tenant: string, now: number, total: number): Promise<BudgetRow>
  /** Takes what was really used, even below nought. `warn` is true once per month, when less than a fifth is left. */
  spendBudget(
    tenant: string,
    tokens: number,
    now: number,
    total: number,
  ): Promise<{ readonly remaining: number; readonly warn: boolean }>
  /** Sets the total; what was spent this month stays spent. */
  setBudget(tenant: string, total: number, now: number): Promise<BudgetRow>
}
