import type { MigrationStep } from './migration-step.ts'

/** The folder in which a session of a coding agent began: `cd` and a restart of the gateway do not change its hooks. */
export const sessionFolderTable: MigrationStep = (types) => [
  {
    kind: 'keyed table',
    name: 'session_folders',
    columns: `tenant_id ${types.id} not null,
      session text not null,
      folder text not null,
      last_at ${types.number} not null,
      primary key (tenant_id, session)`,
  },
  { kind: 'sql', text: 'create index session_folders_by_time on session_folders (last_at)' },
]
