import { sql } from 'kysely'
import {
  MASTER_TENANT,
  type MemberRow,
  members,
  type TenantRow,
  type TokenRow,
  tenants,
  tokens,
} from '../access/tenant-tables.ts'
import { withdrawVotes } from '../approvals/stored/approval-operations.ts'
import { cancelMessages } from '../approvals/stored/approval-route-operations.ts'
import { approvalLinks, approvals } from '../approvals/stored/approval-tables.ts'
import { isUuid } from '../database/column-values.ts'
import {
  afterWholeJournal,
  inSystem,
  inSystemOf,
  inTenant,
  operation,
  reading,
  timed,
} from '../database/operation.ts'
import { find, insert, listRows, removeRow, update } from '../database/rows.ts'
import type { Table } from '../database/table.ts'
import { bumpDefinitionVersions } from '../stored-hooks/hook-operations.ts'
import { removeTenantAudit } from './remove-audit.ts'
import { tables } from './tables.ts'

/** Tables without a foreign key, from which deleting a tenant does not cascade. */
const uncascaded = tables.filter(
  ({ columns, foreignKeys, outlivesTenant }: Table) =>
    'tenant_id' in columns &&
    columns.tenant_id?.references === undefined &&
    foreignKeys === undefined &&
    !outlivesTenant,
)

export const tenantOperations = {
  createTenant: inSystem(async (tx, tenant: TenantRow): Promise<void> => {
    await insert(tx, tenants, tenant)
  }),

  listTenants: inSystem(async (tx, page: { readonly after?: string; readonly limit: number }) => {
    const { after, limit } = page
    const isBehind = after !== undefined && isUuid(after) ? sql`and id > ${after}` : sql``
    const { rows } = await sql<TenantRow>`select id, name, created_at from tenants
      where id <> ${MASTER_TENANT} ${isBehind} order by id limit ${limit}`.execute(tx.trx)
    return rows
  }),

  findTenant: inSystem((tx, idOrName: string) =>
    find(tx, tenants, isUuid(idOrName) ? { id: idOrName } : { name: idOrName }),
  ),

  /** Deletes a tenant with everything it has, its recorded events too. False if it does not exist. */
  deleteTenant: operation(afterWholeJournal, async (call, id: string) => {
    if (id === MASTER_TENANT) return false
    const isDeleted = await inSystemOf(call, async (tx) => {
      if (!(await removeRow(tx, tenants, { id }))) return false
      for (const { name } of uncascaded)
        await sql`delete from ${sql.table(name)} where tenant_id = ${id}`.execute(tx.trx)
      await bumpDefinitionVersions(tx, [id])
      return true
    })
    if (isDeleted) await removeTenantAudit(call.db, id)
    return isDeleted
  }),

  /** Creates the member, unless its tenant has one of that name. Returns the member of that name. */
  saveMember: inTenant(async (tx, member: MemberRow): Promise<MemberRow> => {
    await insert(tx, members, member, 'keep any')
    const { tenant_id, name } = member
    return (await find(tx, members, { tenant_id, name })) ?? member
  }),

  listMembers: inTenant((tx, tenant: string) => listRows(tx, members, { tenant_id: tenant }, ['name'])),

  /**
   * Deletes a member with its tokens and links. Ends the grants that it gave or has, and the questions about its calls. A
   * member of the master tenant may have answered for any tenant.
   */
  deleteMember: inSystem(
    async (tx, { id: member_id, tenant_id }: MemberRow, given?: number): Promise<boolean> => {
      const now = await tx.time(given)
      await withdrawVotes(tx, { member: member_id, tenant_id, now })
      await update(tx, approvals, { member_id }, { granted_until: now }, [sql`granted_until > ${now}`])
      await sql`delete from ${sql.table(approvalLinks.name)} where member_id = ${member_id}`.execute(tx.trx)
      const because = 'the member was removed'
      const pending = { member_id, status: 'pending' } as const
      const ended = { status: 'cancelled', decided_by: because, decided_at: now } as const
      await cancelMessages(tx, { keys: await update(tx, approvals, pending, ended), now, because })
      // Tells the other nodes, which forget its tokens.
      await bumpDefinitionVersions(tx, [tenant_id])
      return removeRow(tx, members, { id: member_id })
    },
    timed,
  ),

  /** `hash` is the SHA-256 of the token; the token itself is never stored. */
  createToken: inTenant(async (tx, token: TokenRow & { readonly hash: Uint8Array }): Promise<void> => {
    await insert(tx, tokens, token)
  }),

  /** Finds a token of any tenant by its hash. The caller checks whether it has expired. */
  findToken: reading((tx, hash: Uint8Array) => find(tx, tokens, { hash })),

  listTokens: inTenant((tx, tenant: string) =>
    listRows(tx, tokens, { tenant_id: tenant }, ['created_at', 'id']),
  ),

  deleteToken: inTenant((tx, tenant: string, id: string) => removeRow(tx, tokens, { tenant_id: tenant, id })),
}
