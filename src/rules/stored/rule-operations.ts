import { sql } from 'kysely'
import { namedOperations } from '../../database/named-operations.ts'
import { inTenant, inTenantAt } from '../../database/operation.ts'
import { find, insert, listRows, removeRow, update } from '../../database/rows.ts'
import { bumpDefinitionVersions } from '../../stored-hooks/hook-operations.ts'
import { type Content, mailboxMessages, teams } from '../../teams/team-tables.ts'
import { environments, type RuleRow, rules } from './rule-tables.ts'

type RuleChange = { readonly definition?: Content; readonly enabled?: boolean; readonly version?: number }
type NewRule = Pick<RuleRow, 'rule_id' | 'enabled' | 'created_by'> & { readonly definition: Content }

export const ruleOperations = {
  /** In the order of creation. */
  listRules: inTenant((tx, tenant: string) =>
    listRows(tx, rules, { tenant_id: tenant }, ['created_at', 'rule_id']),
  ),

  findRule: inTenant((tx, tenant: string, ruleId: string) =>
    find(tx, rules, { tenant_id: tenant, rule_id: ruleId }),
  ),

  /** Undefined if the id is taken. */
  createRule: inTenantAt(async (tx, tenant: string, rule: NewRule) => {
    const now = await tx.time()
    const times = { created_at: now, updated_at: now }
    const row = await insert(tx, rules, { tenant_id: tenant, ...rule, version: 1, ...times }, 'keep')
    if (row !== undefined) await bumpDefinitionVersions(tx, [tenant])
    return row
  }),

  /** Without `version` it replaces any. */
  updateRule: inTenantAt(async (tx, tenant: string, rule_id: string, change: RuleChange) => {
    const { version, ...columns } = change
    const key = { tenant_id: tenant, rule_id }
    const changes = { ...columns, version: sql`version + 1`, updated_at: await tx.time() }
    const [row] = await update(tx, rules, version === undefined ? key : { ...key, version }, changes)
    if (row === undefined) return (await find(tx, rules, key)) === undefined ? 'missing' : 'stale'
    await bumpDefinitionVersions(tx, [tenant])
    return row
  }),

  deleteRule: inTenant(async (tx, tenant: string, ruleId: string) => {
    const removed = await removeRow(tx, rules, { tenant_id: tenant, rule_id: ruleId })
    if (removed) await bumpDefinitionVersions(tx, [tenant])
    return removed
  }),
}

const ofTeams = namedOperations(teams)

export const teamOperations = {
  saveTeam: ofTeams.save,
  findTeam: ofTeams.find,
  listTeams: ofTeams.list,
  /** Deletes the team with the mailboxes of its members. */
  deleteTeam: inTenant(async (tx, tenant: string, name: string) => {
    await removeRow(tx, mailboxMessages, { tenant_id: tenant, team: name })
    return removeRow(tx, teams, { tenant_id: tenant, name })
  }),
}

const ofEnvironments = namedOperations(environments)

export const environmentOperations = {
  saveEnvironment: ofEnvironments.save,
  findEnvironment: ofEnvironments.find,
  listEnvironments: ofEnvironments.list,
  deleteEnvironment: ofEnvironments.remove,
}
