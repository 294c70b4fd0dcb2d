import { agentReports } from './stores/agent-store.ts'
import { approvalAlerts, approvalLinks, approvals } from './stores/approval-store.ts'
import {
  chains,
  events,
  executions,
  gaps,
  journal,
  keptAnswers,
  sessionLanes,
  sessions,
} from './stores/audit-store.ts'
import { deliveries } from './stores/delivery-store.ts'
import { budgets, guardState } from './stores/guard-store.ts'
import { agentHooks, definitionVersions, hookTrips } from './stores/hook-store.ts'
import { environments, ruleActions, ruleFirings, rules } from './stores/rule-store.ts'
import {
  blueprints,
  deletedRunSessions,
  runEventPositions,
  runEventRows,
  runHooks,
  runners,
  runSessions,
  runs,
} from './stores/run-store.ts'
import { sessionFolders } from './stores/session-store.ts'
import { mailboxMessages, teams } from './stores/team-store.ts'
import { tenants, tokens } from './stores/tenant-store.ts'
import { keyUses, providers, secrets, settings } from './stores/vault-store.ts'
import { decisionHours, decisionMinutes, eventHours, hookHours, summaries } from './stores/view-store.ts'

/** Every table. One comes after those that it refers to. */
export const tables = [
  ...([tenants, tokens, secrets, providers, settings, keyUses, agentReports] as const),
  ...([agentHooks, definitionVersions, hookTrips, guardState, budgets, deliveries] as const),
  ...([events, executions, sessions, sessionLanes, sessionFolders, keptAnswers] as const),
  ...([summaries, decisionMinutes, decisionHours, eventHours, hookHours] as const),
  ...([journal, chains, gaps] as const),
  ...([blueprints, runHooks, runners, runSessions, runs, runEventRows] as const),
  ...([runEventPositions, deletedRunSessions] as const),
  ...([approvals, approvalLinks, approvalAlerts] as const),
  ...([rules, teams, environments, mailboxMessages, ruleFirings, ruleActions] as const),
] as const
