import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { serverError } from '../../engine/core/server-errors.ts'
import { tenants } from './001-tenants.ts'
import { hooks } from './002-hooks.ts'
import { audit } from './003-audit.ts'
import { deliveries } from './004-deliveries.ts'
import { guards } from './005-guards.ts'
import { vault } from './006-vault.ts'
import { journal } from './007-journal.ts'
import { moments } from './008-moments.ts'
import type { MigrationKit, Statement, Step } from './migration-step.ts'

/** In the order of their names; a new step goes to the end. */
const steps: Readonly<Record<string, Step>> = {
  '001-tenants': tenants,
  '002-hooks': hooks,
  '003-audit': audit,
  '004-deliveries': deliveries,
  '005-guards': guards,
  '006-vault': vault,
  '007-journal': journal,
  '008-moments': moments,
}

export const stepNames: readonly string[] = Object.keys(steps)

/** What ran there and is unknown here was run by a newer version. */
export function refuseNewer(ran: readonly string[]): void {
  const unknown = ran.find((name) => !Object.hasOwn(steps, name))
  if (unknown !== undefined)
    throw serverError('store.newer', `the database has the step ${unknown}, which this version does not know`)
}

/** All missing steps in one transaction, under a lock: of two nodes one runs them and the other waits. */
export async function migrate<T>(
  db: Kysely<T>,
  kit: MigrationKit,
  afterStatement?: (step: string) => void,
): Promise<void> {
  const run = async (trx: Kysely<unknown>, name: string, step: Step) => {
    const statements = step(kit.types)
    for (const statement of statements) {
      await sql.raw(textOf(statement, kit)).execute(trx)
      afterStatement?.(name)
    }
    for (const statement of statements) if (statement.kind !== 'sql') await kit.secure(trx, statement.name)
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

function textOf(statement: Statement, { types }: MigrationKit): string {
  if (statement.kind === 'sql') return statement.text
  const options = statement.kind === 'keyed table' ? types.keyed : ''
  return `create table ${statement.name} (${statement.columns}) ${options}`
}
