import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Edition } from '../../engine/core/edition.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'

/** Who works on the rows. The login role owns the tables, migrates them, and touches no row. */
export interface Roles {
  /** Sees the rows of one tenant at a time. */
  readonly app: string
  /** Sees the rows of all, for work that is nobody's: snapshots, deliveries, retention. */
  readonly system: string
}

/**
 * Roles belong to the whole cluster. With one pair for all databases, whoever may use it in one database could take its
 * part in another, so each database has a pair of its own.
 */
export function rolesOf(database: string): Roles {
  const simple = /^[a-z0-9_]{1,40}$/.test(database)
  const suffix = simple ? database : createHash('sha256').update(database).digest('hex').slice(0, 16)
  return { app: `hookhelm_app_${suffix}`, system: `hookhelm_system_${suffix}` }
}

/** Creates what is missing and lets the login role take their part; it does not inherit what they may see. */
export async function ensureRoles(owner: pg.ClientBase, roles: Roles): Promise<void> {
  for (const role of [roles.app, roles.system]) {
    const { rows } = await owner.query(
      `select exists (select from pg_roles where rolname = $1) as there,
         exists (select from pg_roles where rolname = $1 and pg_has_role(oid, 'set')) as ours`,
      [role],
    )
    const [{ there, ours }] = rows
    try {
      if (!there) await owner.query(`create role ${role} nologin nosuperuser nobypassrls noinherit`)
      if (!ours) await owner.query(`grant ${role} to current_user with inherit false, set true`)
    } catch (error) {
      if (!isDenied(error)) throw error
      throw serverError('store.role', `the login role may not create ${role} or take its part`, {
        hint: `As an administrator: create role ${role} nologin; grant ${role} to <login> with inherit false, set true.`,
        cause: error,
      })
    }
  }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42501'
}

/** Row-level security binds neither a superuser nor BYPASSRLS. With one tenant there is nobody to protect from. */
export async function refuseLogin(owner: pg.ClientBase, edition: Edition, log: Log): Promise<void> {
  const { rows } = await owner.query(
    'select rolname, rolsuper, rolbypassrls from pg_roles where rolname in (session_user, current_user)',
  )
  const above = rows.find((role) => role.rolsuper || role.rolbypassrls)
  if (above === undefined) return
  refuse(edition, log, `role ${above.rolname} is ${above.rolsuper ? 'a superuser' : 'BYPASSRLS'}`)
}

/** The part that a connection really took, asked on that connection: neither above the policies nor able to change them. */
export async function refuseRole(client: pg.ClientBase, edition: Edition, log: Log): Promise<void> {
  const { rows } = await client.query(
    `select current_user as role, rolsuper or rolbypassrls as above, (
       select relname from pg_class where relnamespace = current_schema()::regnamespace
         and relkind in ('r', 'p') and pg_has_role(relowner, 'usage') limit 1) as owned
     from pg_roles where rolname = current_user`,
  )
  const { role, above, owned } = rows[0]
  if (above) refuse(edition, log, `role ${role} is above row-level security`)
  else if (owned !== null) refuse(edition, log, `role ${role} owns the table ${owned}`)
}

function refuse(edition: Edition, log: Log, why: string): void {
  if (edition === 'standard')
    throw serverError('store.role', `${why}, so it would see the rows of every tenant`)
  log('security.store.role', { why })
}
