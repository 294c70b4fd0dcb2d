import { sql } from 'kysely'
import { ruleContentPath } from '../../paths.ts'
import type { NamedRow, RuleRow, RuleStore } from '../../stores/rule-store.ts'
import { bumpDefinitionVersions } from '../hook-queries.ts'
import type { CountSealed } from '../runs/run-queries.ts'
import { type QueryBuilder, readNow, type SqlDatabase } from '../sql-database.ts'
import type { Tables } from '../tables.ts'
import { openContent, sealContent } from './sealed-content.ts'

type RuleQueries = Pick<RuleStore, 'listRules' | 'findRule' | 'createRule' | 'updateRule' | 'deleteRule'>

export function ruleQueries(db: SqlDatabase, countSealed: CountSealed): RuleQueries {
  const { codec, secrets } = db
  const seal = (tenant: string, ruleId: string, definition: NonNullable<RuleRow['definition']>) =>
    sealContent(secrets, definition, ruleContentPath('rules', tenant, ruleId))
  return {
    listRules: (tenant) =>
      db.tenant(tenant, async (trx) => {
        const rows = await trx
          .selectFrom('rules')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .orderBy('created_at')
          .orderBy('rule_id')
          .execute()
        return rows.map((row) => readRule(db, row))
      }),

    findRule: (tenant, ruleId) => db.tenant(tenant, (trx) => findRule(db, trx, { tenant, ruleId })),

    async createRule(tenant, { rule_id, definition, enabled, created_by }, given) {
      const created = await db.tenant(tenant, async (trx) => {
        const now = await readNow(trx, db, given)
        const times = { created_at: now, updated_at: now }
        const row = await trx
          .insertInto('rules')
          .values({
            ...{ tenant_id: tenant, rule_id, created_by, version: 1, ...times },
            enabled: codec.flag(enabled),
            definition: seal(tenant, rule_id, definition),
          })
          .onConflict((conflict) => conflict.columns(['tenant_id', 'rule_id']).doNothing())
          .returningAll()
          .executeTakeFirst()
        if (row !== undefined) await bumpDefinitionVersions(trx, codec, [tenant])
        return row && readRule(db, row)
      })
      await countSealed(1)
      return created
    },

    async updateRule(tenant, ruleId, { definition, enabled, version }, given) {
      const updated = await db.tenant(tenant, async (trx) => {
        const now = await readNow(trx, db, given)
        const row = await trx
          .updateTable('rules')
          .set((eb) => ({ version: eb('version', '+', 1), updated_at: now }))
          .$if(definition !== undefined, (query) =>
            query.set({ definition: seal(tenant, ruleId, definition ?? {}) }),
          )
          .$if(enabled !== undefined, (query) => query.set({ enabled: codec.flag(enabled ?? true) }))
          .where('tenant_id', '=', tenant)
          .where('rule_id', '=', ruleId)
          .$if(version !== undefined, (query) => query.where('version', '=', version ?? 0))
          .returningAll()
          .executeTakeFirst()
        if (row === undefined)
          return (await findRule(db, trx, { tenant, ruleId })) === undefined ? 'missing' : 'stale'
        await bumpDefinitionVersions(trx, codec, [tenant])
        return readRule(db, row)
      })
      if (definition !== undefined) await countSealed(1)
      return updated
    },

    deleteRule: (tenant, ruleId) =>
      db.tenant(tenant, async (trx) => {
        const deleted = await trx
          .deleteFrom('rules')
          .where('tenant_id', '=', tenant)
          .where('rule_id', '=', ruleId)
          .returning('rule_id')
          .executeTakeFirst()
        if (deleted === undefined) return false
        await bumpDefinitionVersions(trx, codec, [tenant])
        return true
      }),
  }
}

async function findRule(
  db: SqlDatabase,
  trx: QueryBuilder,
  { tenant, ruleId }: { readonly tenant: string; readonly ruleId: string },
): Promise<RuleRow | undefined> {
  const row = await trx
    .selectFrom('rules')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('rule_id', '=', ruleId)
    .executeTakeFirst()
  return row && readRule(db, row)
}

function readRule({ secrets }: SqlDatabase, row: Tables['rules']): RuleRow {
  const path = ruleContentPath('rules', row.tenant_id, row.rule_id)
  return { ...row, enabled: Boolean(row.enabled), definition: openContent(secrets, row.definition, path) }
}

type TeamQueries = Pick<RuleStore, 'saveTeam' | 'findTeam' | 'listTeams' | 'deleteTeam'>
type EnvironmentQueries = Pick<
  RuleStore,
  'saveEnvironment' | 'findEnvironment' | 'listEnvironments' | 'deleteEnvironment'
>

export function teamQueries(db: SqlDatabase, countSealed: CountSealed): TeamQueries {
  const { save, find, list, remove } = namedQueries(db, 'teams', countSealed)
  return {
    saveTeam: save,
    findTeam: find,
    listTeams: list,
    deleteTeam: (tenant, name) =>
      db.tenant(tenant, async (trx) => {
        await trx
          .deleteFrom('mailbox_messages')
          .where('tenant_id', '=', tenant)
          .where('team', '=', name)
          .execute()
        return remove(trx, tenant, name)
      }),
  }
}

export function environmentQueries(db: SqlDatabase, countSealed: CountSealed): EnvironmentQueries {
  const { save, find, list, remove } = namedQueries(db, 'environments', countSealed)
  return {
    saveEnvironment: save,
    findEnvironment: find,
    listEnvironments: list,
    deleteEnvironment: (tenant, name) => db.tenant(tenant, (trx) => remove(trx, tenant, name)),
  }
}

/** Rows that have a name and a sealed definition. */
function namedQueries(db: SqlDatabase, table: 'teams' | 'environments', countSealed: CountSealed) {
  const { secrets } = db
  const pathOf = (tenant: string, name: string) => ruleContentPath(table, tenant, name)
  const read = (row: Tables['teams']): NamedRow => ({
    ...row,
    definition: openContent(secrets, row.definition, pathOf(row.tenant_id, row.name)),
  })
  const save: RuleStore['saveTeam'] = async (tenant, { name, definition: given }, isNew, at) => {
    const saved = await db.tenant(tenant, async (trx) => {
      const now = await readNow(trx, db, at)
      const definition = sealContent(secrets, given, pathOf(tenant, name))
      const inserted = trx
        .insertInto(table)
        .values({ tenant_id: tenant, name, definition, created_at: now, updated_at: now })
        .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doNothing())
        .returningAll()
      const replaced = trx
        .updateTable(table)
        .set({ definition, updated_at: now })
        .where('tenant_id', '=', tenant)
        .where('name', '=', name)
        .returningAll()
      const row = await (isNew ? inserted : replaced).executeTakeFirst()
      return row && read(row)
    })
    await countSealed(1)
    return saved
  }
  return {
    save,
    find: (tenant: string, name: string) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .selectFrom(table)
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where('name', '=', name)
          .executeTakeFirst()
        return row && read(row)
      }),
    list: (tenant: string) =>
      db.tenant(tenant, async (trx) => {
        const rows = await trx
          .selectFrom(table)
          .selectAll()
          .where('tenant_id', '=', tenant)
          .orderBy(sql`name`)
          .execute()
        return rows.map(read)
      }),
    async remove(trx: QueryBuilder, tenant: string, name: string): Promise<boolean> {
      const deleted = await trx
        .deleteFrom(table)
        .where('tenant_id', '=', tenant)
        .where('name', '=', name)
        .returning('name')
        .executeTakeFirst()
      return deleted !== undefined
    },
  }
}
