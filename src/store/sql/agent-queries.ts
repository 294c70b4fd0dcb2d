import type { AgentStore } from '../stores/agent-store.ts'
import type { SqlDatabase } from './sql-database.ts'

export function agentQueries(db: SqlDatabase): AgentStore {
  const { codec } = db
  return {
    putAgentReport: ({ tenant_id, agent, report, reported_at }) =>
      db.tenant(tenant_id, async (trx) => {
        const values = { report: codec.json(report), reported_at }
        await trx
          .insertInto('agent_reports')
          .values({ tenant_id, agent, ...values })
          .onConflict((conflict) => conflict.columns(['tenant_id', 'agent']).doUpdateSet(values))
          .execute()
      }),

    listAgentReports: (tenant) =>
      db.tenant(tenant, async (trx) => {
        const rows = await trx
          .selectFrom('agent_reports')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .orderBy('agent')
          .execute()
        return rows.map((row) => ({ ...row, report: codec.readJson(row.report) }))
      }),
  }
}
