import { members, tenants, tokens } from '../access/tenant-tables.ts'
import { approvalAlerts, approvalLinks, approvals } from '../approvals/stored/approval-tables.ts'
import { deliveries } from '../deliveries/delivery-table.ts'
import {
  chains,
  events,
  executions,
  gaps,
  journal,
  keptAnswers,
  sessionLanes,
  sessions,
} from '../history/audit-tables.ts'
import { sessionFolders } from '../history/session-tables.ts'
import { decisionHours, decisionMinutes, eventHours, hookHours, summaries } from '../history/view-tables.ts'
import { environments, ruleActions, ruleFirings, rules } from '../rules/stored/rule-tables.ts'
import {
  blueprints,
  deletedRunSessions,
  runEventPositions,
  runEventRows,
  runHooks,
  runners,
  runSessions,
  runs,
} from '../runs/stored/run-tables.ts'
import { budgets, keyUses, providers, secrets, settings } from '../secrets/secret-tables.ts'
import { guardState } from '../stored-hooks/guards/guard-tables.ts'
import { agentHooks, definitionVersions, hookTrips } from '../stored-hooks/hook-tables.ts'
import { agentReports } from '../stored-hooks/report-tables.ts'
import { mailboxMessages, teams } from '../teams/team-tables.ts'

/** Every table. One comes after those that it refers to. */
export const tables = [
  ...([tenants, members, tokens, secrets, providers, settings, keyUses, agentReports] as const),
  ...([agentHooks, definitionVersions, hookTrips, guardState, budgets, deliveries] as const),
  ...([events, executions, sessions, sessionLanes, sessionFolders, keptAnswers] as const),
  ...([summaries, decisionMinutes, decisionHours, eventHours, hookHours] as const),
  ...([journal, chains, gaps] as const),
  ...([blueprints, runHooks, runners, runSessions, runs, runEventRows] as const),
  ...([runEventPositions, deletedRunSessions] as const),
  ...([approvals, approvalLinks, approvalAlerts] as const),
  ...([rules, teams, environments, mailboxMessages, ruleFirings, ruleActions] as const),
] as const
