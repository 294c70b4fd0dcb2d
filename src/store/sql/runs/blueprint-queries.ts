import { sql } from 'kysely'
import type { BlueprintHook, BlueprintRow, RunHookRow, RunStore } from '../../stores/run-store.ts'
import { readUnion } from '../column-values.ts'
import { bumpDefinitionVersions } from '../hook-queries.ts'
import { writeDefinition, writeHook } from '../hook-row.ts'
import { type Codec, type QueryBuilder, readNow, type SqlDatabase } from '../sql-database.ts'
import type { Tables } from '../tables.ts'

const sources = ['stored', 'file'] as const

type BlueprintQueries = Pick<
  RunStore,
  'saveBlueprint' | 'findBlueprint' | 'listBlueprints' | 'deleteBlueprint'
>

export function blueprintQueries(db: SqlDatabase): BlueprintQueries {
  return {
    saveBlueprint: (tenant, { hooks, ...blueprint }, version, given) =>
      db.tenant(tenant, async (trx) => {
        const now = await readNow(trx, db, given)
        const row = await writeBlueprint(trx, { ...blueprint, tenant_id: tenant, version, now })
        if (row !== undefined && hooks !== undefined)
          await replaceHooks(trx, db.codec, { tenant, name: row.name, hooks, now })
        return row && readBlueprint(row)
      }),

    findBlueprint: (tenant, name) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .selectFrom('blueprints')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where('name', '=', name)
          .executeTakeFirst()
        return row && readBlueprint(row)
      }),

    listBlueprints: (tenant) =>
      db.tenant(tenant, async (trx) => {
        const rows = await trx
          .selectFrom('blueprints')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .orderBy('name')
          .execute()
        return rows.map(readBlueprint)
      }),

    deleteBlueprint: (tenant, name) =>
      db.tenant(tenant, async (trx) => {
        const deleted = await trx
          .deleteFrom('blueprints')
          .where('tenant_id', '=', tenant)
          .where('name', '=', name)
          .returning('name')
          .executeTakeFirst()
        if (deleted === undefined) return false
        await replaceHooks(trx, db.codec, { tenant, name, hooks: [], now: 0 })
        return true
      }),
  }
}

interface BlueprintWrite extends Pick<BlueprintRow, 'tenant_id' | 'name' | 'source' | 'definition'> {
  /** The version to replace; 0 if there must be none, undefined for any. */
  readonly version: number | undefined
  readonly now: number
}

function writeBlueprint(trx: QueryBuilder, blueprint: BlueprintWrite) {
  const { tenant_id, name, source, version, now } = blueprint
  const definition = JSON.stringify(blueprint.definition)
  const change = { source, definition, updated_at: now }
  const next = sql<number>`blueprints.version + 1`
  if (version !== undefined && version !== 0)
    return trx
      .updateTable('blueprints')
      .set({ ...change, version: next })
      .where('tenant_id', '=', tenant_id)
      .where('name', '=', name)
      .where('version', '=', version)
      .returningAll()
      .executeTakeFirst()
  return trx
    .insertInto('blueprints')
    .values({ tenant_id, name, ...change, version: 1, created_at: now })
    .onConflict((conflict) => {
      const key = conflict.columns(['tenant_id', 'name'])
      return version === 0 ? key.doNothing() : key.doUpdateSet({ ...change, version: next })
    })
    .returningAll()
    .executeTakeFirst()
}

interface HookReplacement {
  readonly tenant: string
  readonly name: string
  readonly hooks: readonly BlueprintHook[]
  readonly now: number
}

async function replaceHooks(trx: QueryBuilder, codec: Codec, replacement: HookReplacement): Promise<void> {
  const { tenant, name, hooks, now } = replacement
  const rows = await trx
    .selectFrom('agent_hooks')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('source', '=', 'blueprint')
    .where(sql<boolean>`agent_ids = ${codec.list([name])}`)
    .execute()
  const stored = new Set(rows.map((row) => row.id))
  const dropped = [...stored].filter((id) => hooks.every((hook) => hook.id !== id))
  if (dropped.length > 0)
    await trx.deleteFrom('agent_hooks').where('tenant_id', '=', tenant).where('id', 'in', dropped).execute()
  for (const given of hooks) {
    const hook = {
      ...given,
      tenant_id: tenant,
      source: 'blueprint',
      scope: 'agent',
      agent_ids: [name],
    } as const
    if (stored.has(hook.id))
      await trx
        .updateTable('agent_hooks')
        .set((eb) => ({ ...writeDefinition(codec, hook), version: eb('version', '+', 1), updated_at: now }))
        .where('tenant_id', '=', tenant)
        .where('id', '=', hook.id)
        .execute()
    else
      await trx
        .insertInto('agent_hooks')
        .values(writeHook(codec, hook, now))
        .execute()
  }
  if (stored.size > 0 || hooks.length > 0) await bumpDefinitionVersions(trx, codec, [tenant])
}

function readBlueprint(row: Tables['blueprints']): BlueprintRow {
  return { ...row, source: readUnion(sources, row.source), definition: readDefinition(row.definition) }
}

type RunHookQueries = Pick<RunStore, 'saveRunHook' | 'findRunHook' | 'listRunHooks' | 'deleteRunHook'>

/** The named hooks that blueprints refer to. */
export function runHookQueries(db: SqlDatabase): RunHookQueries {
  return {
    saveRunHook: (tenant, { name, definition: given }, isNew, now) =>
      db.tenant(tenant, async (trx) => {
        const updated_at = db.codec.now(now)
        const definition = JSON.stringify(given)
        const inserted = trx
          .insertInto('run_hooks')
          .values({ tenant_id: tenant, name, definition, created_at: updated_at, updated_at })
          .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doNothing())
          .returningAll()
        const replaced = trx
          .updateTable('run_hooks')
          .set({ definition, updated_at })
          .where('tenant_id', '=', tenant)
          .where('name', '=', name)
          .returningAll()
        const row = await (isNew ? inserted : replaced).executeTakeFirst()
        return row && readRunHook(row)
      }),

    findRunHook: (tenant, name) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .selectFrom('run_hooks')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .where('name', '=', name)
          .executeTakeFirst()
        return row && readRunHook(row)
      }),

    listRunHooks: (tenant) =>
      db.tenant(tenant, async (trx) => {
        const rows = await trx
          .selectFrom('run_hooks')
          .selectAll()
          .where('tenant_id', '=', tenant)
          .orderBy('name')
          .execute()
        return rows.map(readRunHook)
      }),

    deleteRunHook: (tenant, name) =>
      db.tenant(tenant, async (trx) => {
        const deleted = await trx
          .deleteFrom('run_hooks')
          .where('tenant_id', '=', tenant)
          .where('name', '=', name)
          .returning('name')
          .executeTakeFirst()
        return deleted !== undefined
      }),
  }
}

function readRunHook(row: Tables['run_hooks']): RunHookRow {
  return { ...row, definition: readDefinition(row.definition) }
}

function readDefinition(stored: string): Readonly<Record<string, unknown>> {
  return JSON.parse(stored) as Readonly<Record<string, unknown>>
}
