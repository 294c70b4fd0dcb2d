import { columns, table } from '../../database/table.ts'

const { id, number, real, text } = columns

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
