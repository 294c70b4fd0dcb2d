import pg from 'pg'
import type { Edition } from '../../engine/core/edition.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import { migrate, refuseNewer, stepNames } from '../migrations/migrate.ts'
import { queryOn } from './client-dialect.ts'
import { columnTypes } from './codec.ts'
import { connectionConfig } from './connection.ts'
import { asStoreError } from './failure.ts'
import { ownSchema } from './own-schema.ts'
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
