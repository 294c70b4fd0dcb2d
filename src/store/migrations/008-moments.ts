import type { MigrationStep } from './migration-step.ts'

/** The position of an event in its session, and an index over the events of a session. */
export const momentColumn: MigrationStep = () => [
  { kind: 'sql', text: 'alter table events add column moment text' },
  {
    kind: 'sql',
    text: 'create index events_by_session on events (tenant_id, session_id, created_at, event_id) where session_id is not null',
  },
]
