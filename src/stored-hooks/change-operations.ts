import { type RawBuilder, sql } from 'kysely'
import { MASTER_TENANT } from '../access/tenant-tables.ts'
import { isUuid } from '../database/column-values.ts'
import { inSystem } from '../database/operation.ts'
import { type ChangeMarks, storedKinds } from './change-marks.ts'

/** Counting everything that a busy tenant has would take too long. */
const LATEST = 200

// `fromEntries` forgets the keys.
const none = Object.fromEntries(storedKinds.map((kind) => [kind, ''])) as ChangeMarks

export const changeOperations = {
  /**
   * The marks of what the tenant has, and of what the gateway has for all tenants: global hooks, its settings, and the list
   * of tenants. They are counts, times and versions, and no content. A mark considers the
   * latest 200 deliveries, messages and firings.
   */
  readChangeMarks: inSystem(async ({ trx }, tenant: string): Promise<ChangeMarks> => {
    if (!isUuid(tenant)) return none
    const { rows } = await selectMarks(tenant).execute(trx)
    return rows[0] ?? none
  }),
}

/** One statement, because every open browser reads it once a second. */
function selectMarks(tenant: string): RawBuilder<ChangeMarks> {
  const own = sql<boolean>`tenant_id = ${tenant}`
  const ownOrGlobal = sql<boolean>`tenant_id in (${tenant}, ${MASTER_TENANT})`
  // A new or replaced row has the latest time, and a deleted one changes the count.
  const countAndLatest = (table: string, column: string, condition: RawBuilder<boolean> = own) =>
    sql`select count(*) || ':' || coalesce(max(${sql.ref(column)}), 0)
      from ${sql.table(table)} where ${condition}`
  // Reading a budget renews its `updated_at`, so its values count.
  return sql<ChangeMarks>`select
    (select coalesce(sum(version), 0) || '' from definition_versions where ${ownOrGlobal}) as hooks,
    (select count(*) || ':' || coalesce(sum(attempts), 0) || ':' || coalesce(sum(due_at), 0)
        || ':' || coalesce(sum(case when state = 'dead' then 1 else 0 end), 0)
      from (select attempts, due_at, state from deliveries where ${own} and state <> 'done'
        order by created_at desc, id desc limit ${sql.lit(LATEST)}) latest) as deliveries,
    (${countAndLatest('tokens', 'created_at')}) as tokens,
    (${countAndLatest('secrets', 'updated_at')}) as secrets,
    (${countAndLatest('providers', 'updated_at')}) as providers,
    (select count(*) || ':' || coalesce(sum(updated_at), 0) from settings where ${ownOrGlobal}) as settings,
    coalesce((select budget_total || ':' || remaining from tenant_hook_budget where ${own}), '') as budget,
    (${countAndLatest('agent_reports', 'reported_at')}) as agents,
    (select count(*) || ':' || coalesce(max(created_at), 0) from tenants) as tenants,
    (select count(*) || ':' || coalesce(max(position), 0) || ':' || coalesce(sum(length(answers)), 0)
        from approvals where ${own} and status = 'pending')
      || ':' || (select coalesce(sum(granted_until), 0) from approvals where ${own} and granted_until is not null)
      || ':' || (select coalesce(sum(refused), 0) from approval_alerts where ${own}) as approvals,
    (select count(*) || ':' || coalesce(sum(version), 0) || ':' || coalesce(max(updated_at), 0)
      from rules where ${own}) as rules,
    (select count(*) || ':' || coalesce(sum(latest.created_at), 0) || ':' || coalesce(sum(
        (select sum(case status when 'pending' then 1 when 'started' then 2 else 4 end) from rule_actions
          where rule_actions.tenant_id = latest.tenant_id and rule_actions.firing_id = latest.firing_id)), 0)
      from (select tenant_id, firing_id, created_at from rule_firings where ${own}
        order by created_at desc, firing_id desc limit ${sql.lit(LATEST)}) latest) as firings,
    (${countAndLatest('teams', 'updated_at')}) as teams,
    (select count(*) || ':' || coalesce(sum(created_at), 0) || ':' || count(read_at)
      from (select created_at, read_at from mailbox_messages where ${own}
        order by created_at desc, message_id desc limit ${sql.lit(LATEST)}) latest) as mailbox,
    (${countAndLatest('environments', 'updated_at')}) as environments`
}
