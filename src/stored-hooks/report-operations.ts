import { inTenant } from '../database/operation.ts'
import { insert, listRows } from '../database/rows.ts'
import { type AgentReportRow, agentReports } from './report-tables.ts'

export const agentOperations = {
  /** Replaces the last report of this agent. */
  putAgentReport: inTenant(async (tx, row: AgentReportRow): Promise<void> => {
    const { report, reported_at } = row
    await insert(tx, agentReports, row, { report, reported_at })
  }),

  /** The last report of each agent, ordered by agent. */
  listAgentReports: inTenant((tx, tenant: string) =>
    listRows(tx, agentReports, { tenant_id: tenant }, ['agent']),
  ),
}
