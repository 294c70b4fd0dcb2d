import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { MASTER_TENANT, OWNER_MEMBER } from '../access/tenant-tables.ts'
import { createTable, type SchemaDialect } from '../database/schema-statements.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { tables } from './tables.ts'

/** The statements that change the database of an earlier version. A released step never changes again. */
export type MigrationStep = (dialect: SchemaDialect) => readonly string[]
export type MigrationSteps = Readonly<Record<string, MigrationStep>>

const BASELINE = '001-baseline'

/**
 * The steps after the baseline, by names in their order. A fresh database gets today's tables instead, so a step does to
 * an old database what was done to the declarations; `schema.test.ts` compares the two.
 */
const laterSteps: MigrationSteps = {}

export const stepNames: readonly string[] = [BASELINE, ...Object.keys(laterSteps)]

/** Throws if another version made the database: `store.newer` if it ran a step that this version does not know. */
export function assertKnownSteps(ran: readonly string[]): void {
  if (ran.length > 0 && !ran.includes(BASELINE))
    throw serverError('store.older', `the database was made by an older development version (${ran.at(-1)})`)
  const unknown = ran.find((name) => !stepNames.includes(name))
  if (unknown !== undefined)
    throw serverError('store.newer', `the database has the step ${unknown}, which this version does not know`)
}

/** The statements that make a database as this version has it. */
export function schemaStatements(dialect: SchemaDialect): readonly string[] {
  return [
    ...tables.flatMap((table) => createTable(table, dialect)),
    // Owns the global hooks and the settings of the gateway.
    `insert into tenants (id, name, created_at) values ('${MASTER_TENANT}', 'master', 0)`,
    `insert into members (id, tenant_id, name, kind, created_at)
      values ('${OWNER_MEMBER}', '${MASTER_TENANT}', 'owner', 'person', 0)`,
  ]
}

interface MigrationOptions {
  /** The steps that the database has run already. */
  readonly ran: readonly string[]
  readonly baseline?: readonly string[]
  readonly steps?: MigrationSteps
  readonly afterStatement?: ((step: string) => void) | undefined
}

/** Runs all missing steps in one transaction, under a lock: a second node waits. */
export async function migrate<T>(
  db: Kysely<T>,
  dialect: SchemaDialect,
  { ran, baseline = schemaStatements(dialect), steps = laterSteps, afterStatement }: MigrationOptions,
): Promise<void> {
  const isFresh = ran.length === 0
  const migrationOf = (name: string, statements: readonly string[]): [string, Migration] => [
    name,
    {
      up: async (trx) => {
        for (const statement of statements) {
          await sql.raw(statement).execute(trx)
          afterStatement?.(name)
        }
      },
    },
  ]
  const migrations = [
    migrationOf(BASELINE, baseline),
    ...Object.entries(steps).map(([name, step]) => migrationOf(name, isFresh ? [] : step(dialect))),
  ]
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(migrations) },
  })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}
