import type { MigrationStep } from './migration-step.ts'

/** Recorded dispatches that are not in rows yet: one entry per group, across tenants. */
export const journalTable: MigrationStep = (types) => [
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
