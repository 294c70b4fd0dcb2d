import { columns, type RowOf, table } from '../database/table.ts'

const { json, number, tenantId, text } = columns

/** The last result of `hookhelm doctor` for one coding agent. */
export const agentReports = table(
  'agent_reports',
  {
    tenant_id: tenantId(),
    agent: text(),
    /** JSON as the caller gave it. */
    report: json<unknown>(),
    reported_at: number(),
  },
  { key: ['tenant_id', 'agent'] },
)
export type AgentReportRow = RowOf<typeof agentReports>
