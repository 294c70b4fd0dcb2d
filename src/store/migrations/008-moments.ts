import type { Step } from './migration-step.ts'

/** Where in its session an event stands, and the events of a session in their order. */
export const moments: Step = () => [
  { kind: 'sql', text: 'alter table events add column moment text' },
  {
    kind: 'sql',
    text: 'create index events_by_session on events (tenant_id, session_id, created_at, event_id) where session_id is not null',
  },
]
