import type { MigrationStep } from './migration-step.ts'

/** The messages and the cause of a firing are looked up whenever the firing is shown. */
export const recoveryViewIndexes: MigrationStep = () => [
  {
    kind: 'sql',
    text: 'create index mailbox_of_firing on mailbox_messages (tenant_id, firing_id, created_at, message_id) where firing_id is not null',
  },
  {
    kind: 'sql',
    text: 'create index firings_of_event on rule_firings (tenant_id, event_id, created_at, firing_id)',
  },
]
