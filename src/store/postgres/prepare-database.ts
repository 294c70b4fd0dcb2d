import pg from 'pg'
import type { Edition } from '../../engine/core/edition.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import { migrate, refuseNewer, stepNames } from '../migrations/migrate.ts'
import { connectionConfig } from './connection-pool.ts'
import { HINT_CHANNEL } from './hints.ts'
import { columnTypes, queryOn } from './postgres-dialect.ts'
import { asStoreError } from './postgres-error.ts'
import { ensureRoles, type Roles, refuseLogin, rolesOf } from './roles.ts'
import { openToOwner, secureRows } from './row-security.ts'

/** Any number that nothing else in this database locks. */
const LOCK = 4_665_001
/** How long a node waits for another that migrates, and a statement of a migration may take. */
const PATIENCE_MS = 600_000
/** Granting roles without inheriting them came with this version. */
const OLDEST = 160_000

interface Preparation {
  readonly url: string
  readonly edition: Edition
  readonly log: Log
}

/** Makes the database ready, as its owner, and ends that connection. The answer says whose part to take from then on. */
export async function prepareDatabase({ url, edition, log }: Preparation): Promise<Roles> {
  const owner = new pg.Client({
    ...connectionConfig(url),
    statement_timeout: PATIENCE_MS,
    query_timeout: PATIENCE_MS + 5_000,
  })
  owner.on('error', () => {})
  try {
    await owner.connect()
    const { rows } = await owner.query(
      "select current_database() as name, current_setting('server_version_num')::int as version",
    )
    if (rows[0].version < OLDEST) throw serverError('store.unavailable', 'PostgreSQL 16 or later is needed')
    await refuseLogin(owner, edition, log)
    const roles = rolesOf(rows[0].name)
    await lock(owner)
    await bringUp(owner, roles)
    return roles
  } catch (error) {
    throw asStoreError(error)
  } finally {
    // Gives the lock back too.
    await owner.end().catch(() => {})
  }
}

/** Of two nodes that start at once the second waits, longer than statements usually wait for a lock. */
async function lock(owner: pg.Client): Promise<void> {
  await owner.query('begin')
  await owner.query(`select set_config('lock_timeout', '${PATIENCE_MS}', true), pg_advisory_lock(${LOCK})`)
  await owner.query('commit')
}

async function bringUp(owner: pg.Client, roles: Roles): Promise<void> {
  const ran = await stepsThatRan(owner)
  refuseNewer(ran)
  await ensureRoles(owner, roles)
  if (stepNames.some((name) => !ran.includes(name))) {
    await openToOwner(owner)
    await migrate(queryOn(owner), { types: columnTypes, secure: async () => {} })
  }
  await ownSchema(owner)
  await secureRows(owner, roles)
}

async function stepsThatRan(owner: pg.Client): Promise<readonly string[]> {
  const { rows } = await owner.query("select to_regclass('kysely_migration') is not null as there")
  if (!rows[0].there) return []
  return (await owner.query('select name from kysely_migration')).rows.map((row) => row.name)
}

/**
 * What only PostgreSQL needs. Rows become visible in another order than they got their position, so a tail asks which
 * transaction wrote them; and whoever writes a version announces it, tenant and version and no more.
 */
const statements: readonly (readonly [present: string, create: string])[] = [
  [
    "select from pg_attribute where attrelid = 'hook_executions'::regclass and attname = 'written_by'",
    'alter table hook_executions add column written_by xid8 not null default pg_current_xact_id()',
  ],
  [
    "select from pg_class where relname = 'executions_by_writer' and relnamespace = current_schema()::regnamespace",
    'create index executions_by_writer on hook_executions (tenant_id, written_by, position)',
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
]

/** Looks before it changes anything: each change waits for the work of other nodes, and holds it up. */
export async function ownSchema(owner: pg.ClientBase): Promise<void> {
  for (const [present, create] of statements) {
    const { rows } = await owner.query(`select exists (${present}) as there`)
    if (!rows[0].there) await owner.query(create)
  }
}
