import type { MigrationStep } from './migration-step.ts'

/** The last result of `hookhelm doctor` for each coding agent. */
export const agentReportTable: MigrationStep = (types) => [
  {
    kind: 'table',
    name: 'agent_reports',
    columns: `tenant_id ${types.id} not null references tenants (id) on delete cascade,
      agent text not null,
      report ${types.json} not null,
      reported_at ${types.number} not null,
      primary key (tenant_id, agent)`,
  },
]
