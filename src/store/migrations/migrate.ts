import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { serverError } from '../../engine/core/server-errors.ts'
import { tenantTables } from './001-tenants.ts'
import { hookTables } from './002-hooks.ts'
import { auditTables } from './003-audit.ts'
import { deliveryTables } from './004-deliveries.ts'
import { guardTables } from './005-guards.ts'
import { vaultTables } from './006-vault.ts'
import { journalTable } from './007-journal.ts'
import { momentColumn } from './008-moments.ts'
import { agentReportTable } from './009-agent-reports.ts'
import { tripFailureColumns } from './010-trip-failures.ts'
import { sessionFolderTable } from './011-session-folders.ts'
import { viewTables } from './012-views.ts'
import { runTables } from './013-runs.ts'
import { runTimeoutColumn } from './014-run-timeouts.ts'
import { runFinishes } from './015-run-finishes.ts'
import { ruleTables } from './016-rules.ts'
import { approvalTable } from './017-approvals.ts'
import { approvalRouteTables } from './018-approval-routes.ts'
import { recoveryViewIndexes } from './020-recovery-view.ts'
import type { ColumnTypes, MigrationStatement, MigrationStep } from './migration-step.ts'

/** Steps run in the order of their names; a new step goes last. */
const steps: Readonly<Record<string, MigrationStep>> = {
  '001-tenants': tenantTables,
  '002-hooks': hookTables,
  '003-audit': auditTables,
  '004-deliveries': deliveryTables,
  '005-guards': guardTables,
  '006-vault': vaultTables,
  '007-journal': journalTable,
  '008-moments': momentColumn,
  '009-agent-reports': agentReportTable,
  '010-trip-failures': tripFailureColumns,
  '011-session-folders': sessionFolderTable,
  '012-views': viewTables,
  '013-runs': runTables,
  '014-run-timeouts': runTimeoutColumn,
  '015-run-finishes': runFinishes,
  '016-rules': ruleTables,
  '017-approvals': approvalTable,
  '018-approval-routes': approvalRouteTables,
  '020-recovery-view': recoveryViewIndexes,
}

export const stepNames: readonly string[] = Object.keys(steps)

/** Throws `store.newer` if a newer version has run a step that this version does not know. */
export function assertKnownSteps(ran: readonly string[]): void {
  const unknown = ran.find((name) => !Object.hasOwn(steps, name))
  if (unknown !== undefined)
    throw serverError('store.newer', `the database has the step ${unknown}, which this version does not know`)
}

/** Runs all missing steps in one transaction, under a lock: a second node waits. */
export async function migrate<T>(
  db: Kysely<T>,
  types: ColumnTypes,
  afterStatement?: (step: string) => void,
): Promise<void> {
  const run = async (trx: Kysely<unknown>, name: string, step: MigrationStep) => {
    for (const statement of step(types)) {
      await sql.raw(statementText(statement, types)).execute(trx)
      afterStatement?.(name)
    }
  }
  const migrations = Object.entries(steps).map(([name, step]): [string, Migration] => [
    name,
    { up: (trx) => run(trx, name, step) },
  ])
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(migrations) },
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}

function statementText(statement: MigrationStatement, types: ColumnTypes): string {
  if (statement.kind === 'sql') return statement.text
  const options = statement.kind === 'keyed table' ? types.keyed : ''
  return `create table ${statement.name} (${statement.columns}) ${options}`
}
