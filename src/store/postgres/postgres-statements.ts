import type { ConnectionPool } from '../../database/postgres/connection-pool.ts'
import type { DialectStatements } from '../../database/sql-database.ts'
import { deliveryClaims } from '../../deliveries/postgres-delivery-claims.ts'
import { type ExecutionRow, executions } from '../../history/audit-tables.ts'
import { appendGroup, writeGroup } from '../../history/stored/postgres-audit-writes.ts'
import { type EventSummary, summaries } from '../../history/view-tables.ts'
import { takeRunsLocked } from '../../runs/stored/postgres-take-run.ts'
import { takeInBatches } from '../../runs/stored/take-batches.ts'
import type { Secrets } from '../../safe/secrets/secret.ts'
import { readDefinitionChanges, tailBySnapshot } from './snapshot-cursors.ts'

/** The plain SQL statements of the PostgreSQL store. */
export function postgresStatements(
  pools: { app: ConnectionPool; system: ConnectionPool },
  secrets: Secrets,
): DialectStatements {
  const tailAll = tailBySnapshot<EventSummary>(pools.app, secrets, summaries)
  const tailReal = tailBySnapshot<EventSummary>(pools.app, secrets, summaries, 'not probe')
  return {
    tail: tailBySnapshot<ExecutionRow>(pools.app, secrets, executions),
    tailEvents: (tenant, cursor, { limit, probes }) => (probes ? tailAll : tailReal)(tenant, cursor, limit),
    definitionChanges: readDefinitionChanges(pools.system),
    takeRun: takeInBatches(takeRunsLocked(pools.app), { size: 16, width: 2 }),
    appendGroup: (group) => appendGroup(pools.system, group),
    writeGroup: (group) => writeGroup(pools.system, group),
    ...deliveryClaims(pools.system, secrets),
  }
}
