import type { MigrationStep } from './migration-step.ts'

/** Whether a run failed because it took too long, and sessions by the id that their coding agent gave them. */
export const runTimeoutColumn: MigrationStep = (types) => [
  {
    kind: 'sql',
    text: `alter table runs add column timed_out ${types.flag} not null default ${types.true === '1' ? '0' : 'false'}`,
  },
  {
    kind: 'sql',
    text: `create index sessions_of_runs_by_executor on run_sessions (tenant_id, executor_session_id)
      where executor_session_id is not null`,
  },
]
