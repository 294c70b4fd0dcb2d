import { columns, type RowOf, table } from '../database/table.ts'

const { id, internal, json, nullable, number, real, text } = columns

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
