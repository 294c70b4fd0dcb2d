/** The last result of `hookhelm doctor` for one coding agent. */
export interface AgentReportRow {
  readonly tenant_id: string
  readonly agent: string
  /** JSON as the caller gave it. */
  readonly report: unknown
  readonly reported_at: number
}

export interface AgentStore {
  /** Replaces the last report of this agent. */
  putAgentReport(report: AgentReportRow): Promise<void>
  /** The last report of each agent, ordered by agent. */
  listAgentReports(tenant: string): Promise<readonly AgentReportRow[]>
}
