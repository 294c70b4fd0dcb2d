import type { GuardRequest, Pass } from '../../engine/core/guard-state.ts'

export interface BudgetRow {
  readonly tenant_id: string
  /** The start of the month in UTC, in milliseconds. */
  readonly month_start: number
  readonly budget_total: number
  readonly remaining: number
  readonly last_warned_at: number | null
}

/** Without `now` a method uses the clock of the store, which all nodes share. */
export interface GuardStore {
  /**
   * Checks all guards and arms all or none, atomically. Same rules and texts as `memoryGuardState`. A window that ends later
   * than its length allows is shortened, because the clock was ahead when it began.
   */
  takeGuards(tenant: string, requests: readonly GuardRequest[], now?: number): Promise<readonly Pass[]>
  /** This month's budget. A new month starts with the total; a tenant without a budget gets `total`. */
  readBudget(tenant: string, total: number, now?: number): Promise<BudgetRow>
  /** Subtracts used tokens; `remaining` may become negative. `warn` is true once per month, when less than a fifth is left. */
  spendBudget(
    tenant: string,
    tokens: number,
    total: number,
    now?: number,
  ): Promise<{ readonly remaining: number; readonly warn: boolean }>
  /** Sets the total. Tokens spent this month stay spent. */
  setBudget(tenant: string, total: number, now?: number): Promise<BudgetRow>
}
