import type { GuardRequest, Pass } from '../../engine/core/guard-state.ts'
import { id, internal, json, nullable, number, type RowOf, real, table, text } from '../database/table.ts'

export const guardState = table(
  'guard_state',
  { tenant_id: id(), key: text(), until: number(), count: real() },
  {
    key: ['tenant_id', 'key'],
    isKeyed: true,
    indexes: ['guards_by_end (until)'],
    expiry: [{ where: 'until < :before', keep: 'none' }],
    // A budget has no window: it never expires.
    windows: [{ ends: 'until', within: 'guard_ms', where: "key not like 'budget|%'" }],
  },
)

export const budgets = table(
  'tenant_hook_budget',
  {
    tenant_id: id(),
    /** The start of the month in UTC, in milliseconds. */
    month_start: number(),
    budget_total: number(),
    remaining: number(),
    last_warned_at: nullable(number()),
    metadata: internal(json<Readonly<Record<string, unknown>>>()),
    updated_at: internal(number()),
  },
  { key: ['tenant_id'] },
)
export type BudgetRow = RowOf<typeof budgets>

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
