import type { ConnectionPool } from '../../database/postgres/connection-pool.ts'
import type { DialectStatements } from '../../database/sql-database.ts'
import { deliveryClaims } from '../../deliveries/postgres-delivery-claims.ts'
import { appendGroup, writeGroup } from '../../history/stored/postgres-audit-writes.ts'
import { takeRunsLocked } from '../../runs/stored/postgres-take-run.ts'
import { takeInBatches } from '../../runs/stored/take-batches.ts'
import type { Secrets } from '../../safe/secrets/secret.ts'
import { readDefinitionChanges, tailBySnapshot, tailEventsBySnapshot } from './snapshot-cursors.ts'

/** The plain SQL statements of the PostgreSQL store. */
export function postgresStatements(
  pools: { app: ConnectionPool; system: ConnectionPool },
  secrets: Secrets,
): DialectStatements {
  return {
    tail: tailBySnapshot(pools.app, secrets),
    tailEvents: tailEventsBySnapshot(pools.app, secrets),
    definitionChanges: readDefinitionChanges(pools.system),
    takeRun: takeInBatches(takeRunsLocked(pools.app), { size: 16, width: 2 }),
    appendGroup: (group) => appendGroup(pools.system, group),
    writeGroup: (group) => writeGroup(pools.system, group),
    ...deliveryClaims(pools.system, secrets),
  }
}
