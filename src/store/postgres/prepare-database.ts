import pg from 'pg'
import type { Edition } from '../../engine/core/edition.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import { assertKnownSteps, migrate, stepNames } from '../migrations/migrate.ts'
import { APPROVAL_HINT_CHANNEL } from '../sql/approval-queries.ts'
import { connectionConfig } from './connection-pool.ts'
import { HINT_CHANNEL, RUN_HINT_CHANNEL } from './hints.ts'
import { postgresColumnTypes, queryBuilderOn } from './postgres-dialect.ts'
import { postgresStoreError } from './postgres-error.ts'
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
    await migrate(queryBuilderOn(owner), postgresColumnTypes)
  }
  await ensurePostgresSchema(owner)
  await secureRows(owner, roles)
}

async function readStepsRun(owner: pg.Client): Promise<readonly string[]> {
  const { rows } = await owner.query("select to_regclass('kysely_migration') is not null as exists")
  if (!rows[0].exists) return []
  return (await owner.query('select name from kysely_migration')).rows.map((row) => row.name)
}

/**
 * Schema that only PostgreSQL needs: `written_by`, because rows become visible in another order than their positions, and a
 * triggers that announce new definition versions (tenant and version only) and runs that someone waits for (tenant only).
 */
const postgresSchema: readonly (readonly [exists: string, create: string])[] = [
  [
    "select from pg_attribute where attrelid = 'hook_executions'::regclass and attname = 'written_by'",
    'alter table hook_executions add column written_by xid8 not null default pg_current_xact_id()',
  ],
  [
    "select from pg_class where relname = 'executions_by_writer' and relnamespace = current_schema()::regnamespace",
    'create index executions_by_writer on hook_executions (tenant_id, written_by, position)',
  ],
  [
    "select from pg_attribute where attrelid = 'event_summaries'::regclass and attname = 'written_by'",
    'alter table event_summaries add column written_by xid8 not null default pg_current_xact_id()',
  ],
  [
    "select from pg_class where relname = 'summaries_by_writer' and relnamespace = current_schema()::regnamespace",
    'create index summaries_by_writer on event_summaries (tenant_id, written_by, position)',
  ],
  [
    "select from pg_proc where proname = 'hint_definitions' and pronamespace = current_schema()::regnamespace",
    `create function hint_definitions() returns trigger language plpgsql as $$ begin
       perform pg_notify('${HINT_CHANNEL}', new.tenant_id || ' ' || new.version);
       return null;
     end $$`,
  ],
  [
    "select from pg_trigger where tgrelid = 'definition_versions'::regclass and tgname = 'hint_definitions'",
    `create trigger hint_definitions after insert or update on definition_versions
       for each row execute function hint_definitions()`,
  ],
  [
    "select from pg_proc where proname = 'hint_runs' and pronamespace = current_schema()::regnamespace",
    `create function hint_runs() returns trigger language plpgsql as $$ begin
       perform pg_notify('${RUN_HINT_CHANNEL}', new.tenant_id::text);
       return null;
     end $$`,
  ],
  [
    "select from pg_trigger where tgrelid = 'runs'::regclass and tgname = 'hint_runs'",
    `create trigger hint_runs after insert or update of status on runs
       for each row when (new.status not in ('preparing', 'claimed', 'running')) execute function hint_runs()`,
  ],
  [
    "select from pg_proc where proname = 'hint_approvals' and pronamespace = current_schema()::regnamespace",
    `create function hint_approvals() returns trigger language plpgsql as $$ begin
       perform pg_notify('${APPROVAL_HINT_CHANNEL}', new.approval_id);
       return null;
     end $$`,
  ],
  [
    "select from pg_trigger where tgrelid = 'approvals'::regclass and tgname = 'hint_approvals'",
    `create trigger hint_approvals after update of status on approvals
       for each row when (new.status <> 'pending') execute function hint_approvals()`,
  ],
]

/** Creates only what is missing, because each schema change blocks other nodes. */
async function ensurePostgresSchema(owner: pg.ClientBase): Promise<void> {
  for (const [exists, create] of postgresSchema) {
    const { rows } = await owner.query(`select exists (${exists}) as exists`)
    if (!rows[0].exists) await owner.query(create)
  }
}
