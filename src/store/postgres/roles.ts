import { createHash } from 'node:crypto'
import type pg from 'pg'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import type { Edition } from '../../engine/core/values/edition.ts'

/** The roles that access rows. The login role owns and migrates the tables, and accesses no rows. */
export interface DatabaseRoles {
  /** Sees the rows of one tenant at a time. */
  readonly app: string
  /** Sees the rows of all tenants, for snapshots, deliveries and retention. */
  readonly system: string
}

/**
 * Roles belong to the whole cluster. Each database has its own pair, so that a login of one database cannot switch to the
 * roles of another.
 */
export function rolesOfDatabase(database: string): DatabaseRoles {
  const simple = /^[a-z0-9_]{1,40}$/.test(database)
  const suffix = simple ? database : createHash('sha256').update(database).digest('hex').slice(0, 16)
  return { app: `hookhelm_app_${suffix}`, system: `hookhelm_system_${suffix}` }
}

/** Creates missing roles and lets the login role switch to them, without inheriting their rights. */
export async function ensureRoles(owner: pg.ClientBase, roles: DatabaseRoles): Promise<void> {
  for (const role of [roles.app, roles.system]) {
    const { rows } = await owner.query(
      `select exists (select from pg_roles where rolname = $1) as exists,
         exists (select from pg_roles where rolname = $1 and pg_has_role(oid, 'set')) as granted`,
      [role],
    )
    const [{ exists, granted }] = rows
    try {
      if (!exists) await owner.query(`create role ${role} nologin nosuperuser nobypassrls noinherit`)
      if (!granted) await owner.query(`grant ${role} to current_user with inherit false, set true`)
    } catch (error) {
      if (!isDenied(error)) throw error
      throw serverError('store.role', `the login role may not create ${role} or switch to it`, {
        hint: `As an administrator: create role ${role} nologin; grant ${role} to <login> with inherit false, set true.`,
        cause: error,
      })
    }
  }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42501'
}

/** Row-level security does not bind superusers and BYPASSRLS roles. With a single tenant that is only logged. */
export async function checkLoginRole(owner: pg.ClientBase, edition: Edition, log: Log): Promise<void> {
  const { rows } = await owner.query(
    'select rolname, rolsuper, rolbypassrls from pg_roles where rolname in (session_user, current_user)',
  )
  const exempt = rows.find((role) => role.rolsuper || role.rolbypassrls)
  if (exempt === undefined) return
  reportUnsafeRole(edition, log, `role ${exempt.rolname} is ${exempt.rolsuper ? 'a superuser' : 'BYPASSRLS'}`)
}

/** Checks the role that a connection really has: row-level security must bind it, and it must not own tables. */
export async function checkConnectionRole(client: pg.ClientBase, edition: Edition, log: Log): Promise<void> {
  const { rows } = await client.query(
    `select current_user as role, rolsuper or rolbypassrls as exempt, (
       select relname from pg_class where relnamespace = current_schema()::regnamespace
         and relkind in ('r', 'p') and pg_has_role(relowner, 'usage') limit 1) as owned
     from pg_roles where rolname = current_user`,
  )
  const { role, exempt, owned } = rows[0]
  if (exempt) reportUnsafeRole(edition, log, `role ${role} bypasses row-level security`)
  else if (owned !== null) reportUnsafeRole(edition, log, `role ${role} owns the table ${owned}`)
}

function reportUnsafeRole(edition: Edition, log: Log, why: string): void {
  if (edition === 'standard')
    throw serverError('store.role', `${why}, so it would see the rows of every tenant`)
  log('security.store.role', { why })
}
