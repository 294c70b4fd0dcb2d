import pg from 'pg'
import { connectionConfig } from '../../database/postgres/connection-pool.ts'
import { announce, postgresSchema, queryBuilderOn } from '../../database/postgres/postgres-dialect.ts'
import { postgresStoreError } from '../../database/postgres/postgres-error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import type { Edition } from '../../engine/core/values/edition.ts'
import { assertKnownSteps, migrate, stepNames } from '../migrate.ts'
import { tables } from '../tables.ts'
import { checkLoginRole, type DatabaseRoles, ensureRoles, rolesOfDatabase } from './roles.ts'
import { exemptOwner, secureRows } from './row-security.ts'

/** An advisory lock key that nothing else in this database uses. */
const LOCK_KEY = 4_665_001
/** The limit for waiting for another node that migrates, and for a statement of a migration. */
const MIGRATION_MS = 600_000
/** The first version that can grant a role without inheriting it. */
const MIN_VERSION = 160_000

interface Preparation {
  readonly url: string
  readonly edition: Edition
  readonly log: Log
}

/** Migrates and secures the database as its owner. Returns the roles for all later connections. */
export async function prepareDatabase({ url, edition, log }: Preparation): Promise<DatabaseRoles> {
  const owner = new pg.Client({
    ...connectionConfig(url),
    statement_timeout: MIGRATION_MS,
    query_timeout: MIGRATION_MS + 5_000,
  })
  owner.on('error', () => {})
  try {
    await owner.connect()
    const { rows } = await owner.query(
      "select current_database() as name, current_setting('server_version_num')::int as version",
    )
    if (rows[0].version < MIN_VERSION)
      throw serverError('store.unavailable', 'Hookhelm needs PostgreSQL 16 or later')
    await checkLoginRole(owner, edition, log)
    const roles = rolesOfDatabase(rows[0].name)
    await lock(owner)
    await migrateAndSecure(owner, roles)
    return roles
  } catch (error) {
    throw postgresStoreError(error)
  } finally {
    // Also releases the lock.
    await owner.end().catch(() => {})
  }
}

/** If two nodes start at once, the second waits, with a longer limit than other statements have. */
async function lock(owner: pg.Client): Promise<void> {
  await owner.query('begin')
  await owner.query(
    `select set_config('lock_timeout', '${MIGRATION_MS}', true), pg_advisory_lock(${LOCK_KEY})`,
  )
  await owner.query('commit')
}

async function migrateAndSecure(owner: pg.Client, roles: DatabaseRoles): Promise<void> {
  const ran = await readStepsRun(owner)
  assertKnownSteps(ran)
  await ensureRoles(owner, roles)
  if (stepNames.some((name) => !ran.includes(name))) {
    await exemptOwner(owner)
    await migrate(queryBuilderOn(owner), postgresSchema, { ran })
  }
  await ensureNotices(owner)
  await secureRows(owner, roles)
}

async function readStepsRun(owner: pg.Client): Promise<readonly string[]> {
  const { rows } = await owner.query("select to_regclass('kysely_migration') is not null as exists")
  if (!rows[0].exists) return []
  return (await owner.query('select name from kysely_migration')).rows.map((row) => row.name)
}

/** Restores what tells other nodes of changes. Creates only what is missing, because each schema change blocks other nodes. */
async function ensureNotices(owner: pg.ClientBase): Promise<void> {
  for (const { name, notice } of tables) {
    if (notice === undefined) continue
    const { rows } = await owner.query(
      'select exists (select from pg_trigger where tgrelid = $1::regclass and tgname = $2) as exists',
      [name, notice.name],
    )
    if (!rows[0].exists) for (const statement of announce(name, notice)) await owner.query(statement)
  }
}
