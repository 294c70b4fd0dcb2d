import type { MigrationStep } from './migration-step.ts'

/** The kind of failure that tripped a hook, whose policy keeps applying. Trips from before have none. */
export const tripFailureColumns: MigrationStep = () => [
  { kind: 'sql', text: 'alter table agent_hooks add column tripped_by text' },
  { kind: 'sql', text: 'alter table hook_trips add column tripped_by text' },
]
