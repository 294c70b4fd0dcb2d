import type { HookFilter, HookRow, HookStore } from '../stores/hook-store.ts'
import { MASTER_TENANT } from '../stores/tenant-store.ts'
import type { Codec, Db, Query } from './database.ts'
import { bumpVersions } from './definition-version.ts'
import { completed, readHook, writeDefinition, writeHook } from './hook-row.ts'
import { isUuid } from './uuid.ts'

type HookRows = Pick<
  HookStore,
  'listHooks' | 'findHook' | 'createHook' | 'updateHook' | 'deleteHook' | 'toggleHook'
>

export function hookRows(db: Db): HookRows {
  const { codec } = db
  return {
    listHooks: (tenant, filter = {}) =>
      db.tenant(tenant, async (trx) =>
        (await selectHooks(trx, codec, [tenant, MASTER_TENANT])).filter((hook) => fits(hook, filter)),
      ),

    findHook: (tenant, id) =>
      db.tenant(tenant, async (trx) => {
        if (!isUuid(id)) return undefined
        const row = await trx
          .selectFrom('agent_hooks')
          .selectAll()
          .where('id', '=', id)
          .where('tenant_id', 'in', [tenant, MASTER_TENANT])
          .executeTakeFirst()
        return row && readHook(codec, row)
      }),

    createHook: (hook, now) =>
      db.tenant(hook.tenant_id, async (trx) => {
        const row = await trx
          .insertInto('agent_hooks')
          .values(writeHook(codec, hook, now))
          .returningAll()
          .executeTakeFirstOrThrow()
        await bumpVersions(trx, codec, [hook.tenant_id])
        return readHook(codec, row)
      }),

    updateHook: (tenant, id, { version, hook }, now) =>
      db.tenant(tenant, async (trx) => {
        const before = await findOwn(trx, codec, tenant, id)
        if (before === undefined) return 'missing'
        const row = await trx
          .updateTable('agent_hooks')
          .set({
            ...writeDefinition(codec, completed(hook, before)),
            version: version + 1,
            updated_at: now,
          })
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .where('version', '=', version)
          .returningAll()
          .executeTakeFirst()
        if (row === undefined) return 'stale'
        await bumpVersions(trx, codec, [tenant])
        return readHook(codec, row)
      }),

    toggleHook(tenant, id, { enabled, reason }, now) {
      const toggle = async (trx: Query) => {
        if (!isUuid(id)) return 'missing'
        const row = await trx
          .updateTable('agent_hooks')
          .set((eb) => ({
            enabled: codec.flag(enabled),
            disabled_reason: enabled ? null : (reason ?? null),
            version: eb('version', '+', 1),
            updated_at: now,
          }))
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst()
        if (row === undefined) return 'missing'
        const cleared = enabled ? await clearTrips(trx, id) : []
        await bumpVersions(trx, codec, [tenant, ...cleared])
        return readHook(codec, row)
      }
      // A global hook may have been tripped by any tenant.
      return tenant === MASTER_TENANT ? db.system(toggle) : db.tenant(tenant, toggle)
    },

    deleteHook: (tenant, id) =>
      db.tenant(tenant, async (trx) => {
        if (!isUuid(id)) return false
        const gone = await trx
          .deleteFrom('agent_hooks')
          .where('tenant_id', '=', tenant)
          .where('id', '=', id)
          .returning('id')
          .executeTakeFirst()
        if (gone === undefined) return false
        await bumpVersions(trx, codec, [tenant])
        return true
      }),
  }
}

/** In the order of creation; ids grow with time. */
export async function selectHooks(
  trx: Query,
  codec: Codec,
  tenants: readonly string[],
): Promise<readonly HookRow[]> {
  const rows = await trx
    .selectFrom('agent_hooks')
    .selectAll()
    .where('tenant_id', 'in', tenants)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map((row) => readHook(codec, row))
}

async function findOwn(trx: Query, codec: Codec, tenant: string, id: string): Promise<HookRow | undefined> {
  if (!isUuid(id)) return undefined
  const row = await trx
    .selectFrom('agent_hooks')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && readHook(codec, row)
}

/** Answers the tenants that had tripped it: what they see has changed too. */
async function clearTrips(trx: Query, hookId: string): Promise<readonly string[]> {
  const rows = await trx
    .deleteFrom('hook_trips')
    .where('hook_id', '=', hookId)
    .returning('tenant_id')
    .execute()
  return rows.map((row) => row.tenant_id)
}

/** A hook without agents is for every agent. */
function fits(hook: HookRow, { event, scope, agent_id, enabled }: HookFilter): boolean {
  if (event !== undefined && hook.event !== event) return false
  if (scope !== undefined && hook.scope !== scope) return false
  if (enabled !== undefined && hook.enabled !== enabled) return false
  return agent_id === undefined || hook.agent_ids.length === 0 || hook.agent_ids.includes(agent_id)
}
