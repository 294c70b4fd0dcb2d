import { createHash } from 'node:crypto'
import type pg from 'pg'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { tables } from '../tables.ts'
import type { DatabaseRoles } from './roles.ts'

const readByAll = new Set<string>(tables.filter((table) => table.readByAll).map(({ name }) => name))
const writtenByMaster = new Set<string>(
  tables.filter((table) => table.writtenByMaster).map(({ name }) => name),
)
/** Only the owner accesses the bookkeeping of migrations. */
const OWNER_ONLY = /^kysely_/

// Null before the first transaction of a connection, and empty after one; no row has such a tenant.
const CURRENT_TENANT = "nullif(current_setting('hookhelm.tenant', true), '')"

interface SecuredTable {
  readonly name: string
  /** The type of its tenant_id; null when it has none. */
  readonly tenant: string | null
}

interface Policy {
  readonly name: string
  readonly text: string
}

/**
 * Sets the grants and policies of every existing table, so that a new table cannot be forgotten. Leaves tables alone that
 * are already right, because each change blocks other nodes.
 */
export async function secureRows(owner: pg.ClientBase, roles: DatabaseRoles): Promise<void> {
  for (const role of [roles.app, roles.system]) await grantSchema(owner, role)
  const outdated = await outdatedTables(owner, roles)
  if (outdated.length === 0) return
  await owner.query('begin')
  try {
    for (const table of outdated) await secure(owner, roles, table)
    await owner.query('commit')
  } catch (error) {
    await owner.query('rollback')
    throw error
  }
}

async function grantSchema(owner: pg.ClientBase, role: string): Promise<void> {
  const { rows } = await owner.query(
    "select quote_ident(current_schema()) as schema, has_schema_privilege($1, current_schema(), 'usage') as may",
    [role],
  )
  if (!rows[0].may) await owner.query(`grant usage on schema ${rows[0].schema} to ${role}`)
}

/** Lets the owner access rows while it migrates them. The policies of other roles stay. */
export async function exemptOwner(owner: pg.ClientBase): Promise<void> {
  for (const { name } of (await tablesOf(owner)).filter((table) => table.tenant !== null)) {
    await owner.query(`alter table ${name} no force row level security`)
  }
}

async function tablesOf(owner: pg.ClientBase): Promise<readonly SecuredTable[]> {
  const { rows } = await owner.query(
    `select quote_ident(c.relname) as name, format_type(a.atttypid, null) as tenant from pg_class c
     left join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') order by c.relname`,
  )
  return rows.filter((row) => !OWNER_ONLY.test(row.name))
}

function policiesOf(table: SecuredTable, roles: DatabaseRoles): readonly Policy[] {
  if (table.tenant === null) return []
  const current = `(${CURRENT_TENANT})::${table.tenant}`
  const master = `'${MASTER_TENANT}'::${table.tenant}`
  const own = `tenant_id = ${current}${writtenByMaster.has(table.name) ? ` or ${current} = ${master}` : ''}`
  const policies = [
    namedPolicy('own', `for all to ${roles.app} using (${own}) with check (${own})`),
    namedPolicy('system', `for all to ${roles.system} using (true) with check (true)`),
  ]
  if (!readByAll.has(table.name)) return policies
  return [...policies, namedPolicy('global', `for select to ${roles.app} using (tenant_id = ${master})`)]
}

/** The name contains a hash of the text, because PostgreSQL returns policies in another wording. */
function namedPolicy(name: string, text: string): Policy {
  return { name: `${name}_${createHash('sha256').update(text).digest('hex').slice(0, 8)}`, text }
}

async function outdatedTables(owner: pg.ClientBase, roles: DatabaseRoles): Promise<readonly SecuredTable[]> {
  const { rows } = await owner.query(
    `select quote_ident(c.relname) as name, c.relrowsecurity and c.relforcerowsecurity as forced,
       has_table_privilege($1, c.oid, 'select') and has_table_privilege($1, c.oid, 'delete') as app,
       has_table_privilege($2, c.oid, 'select') and has_table_privilege($2, c.oid, 'delete') as system,
       array(select polname::text from pg_policy where polrelid = c.oid order by polname collate "C") as policies
     from pg_class c where c.relnamespace = current_schema()::regnamespace`,
    [roles.app, roles.system],
  )
  const found = new Map(rows.map((row) => [row.name, row]))
  return (await tablesOf(owner)).filter((table) => {
    const actual = found.get(table.name)
    const names = policiesOf(table, roles).map((policy) => policy.name)
    const hasTenant = table.tenant !== null
    return !(
      actual.system &&
      actual.app === hasTenant &&
      actual.forced === hasTenant &&
      actual.policies.join() === names.toSorted().join()
    )
  })
}

async function secure(owner: pg.ClientBase, roles: DatabaseRoles, table: SecuredTable): Promise<void> {
  const { name } = table
  await owner.query(`revoke all on ${name} from public, ${roles.app}, ${roles.system}`)
  await owner.query(`grant select, insert, update, delete on ${name} to ${roles.system}`)
  const { rows } = await owner.query('select polname from pg_policy where polrelid = $1::regclass', [name])
  for (const { polname } of rows) await owner.query(`drop policy ${polname} on ${name}`)
  if (table.tenant === null) return
  await owner.query(`grant select, insert, update, delete on ${name} to ${roles.app}`)
  await owner.query(`alter table ${name} enable row level security`)
  await owner.query(`alter table ${name} force row level security`)
  for (const policy of policiesOf(table, roles)) {
    await owner.query(`create policy ${policy.name} on ${name} ${policy.text}`)
  }
}
