import type { Step } from './migration-step.ts'

/** What was recorded and is not in rows yet: one entry per group, whoever's dispatches it holds. */
export const journal: Step = (types) => [
  {
    kind: 'table',
    name: 'audit_journal',
    columns: `position ${types.position},
      id ${types.id} not null,
      events ${types.number} not null,
      sealed text not null,
      created_at ${types.number} not null`,
  },
]
