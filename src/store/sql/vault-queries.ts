import type { VaultStore } from '../stores/vault-store.ts'
import type { Codec, SqlDatabase } from './sql-database.ts'

type VaultQueries = Omit<VaultStore, 'holdsSealed' | 'sealedUnderOtherKeys' | 'resealCells'>

export function vaultQueries(db: SqlDatabase): VaultQueries {
  const { codec } = db
  return {
    putSecret: ({ tenant_id, name, ...secret }) =>
      db.tenant(tenant_id, async (trx) => {
        await trx
          .insertInto('secrets')
          .values({ tenant_id, name, ...secret })
          .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doUpdateSet(secret))
          .execute()
      }),

    listSecrets: (tenant) =>
      db.tenant(tenant, (trx) =>
        trx.selectFrom('secrets').selectAll().where('tenant_id', '=', tenant).orderBy('name').execute(),
      ),

    deleteSecret: (tenant, name) =>
      db.tenant(tenant, async (trx) => {
        const deleted = await trx
          .deleteFrom('secrets')
          .where('tenant_id', '=', tenant)
          .where('name', '=', name)
          .returning('name')
          .executeTakeFirst()
        return deleted !== undefined
      }),

    putProvider: ({ tenant_id, name, ...provider }, before) =>
      db.tenant(tenant_id, async (trx) => {
        const inserted = trx
          .insertInto('providers')
          .values({ tenant_id, name, ...provider })
          .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doNothing())
          .returning('name')
        const replaced = trx
          .updateTable('providers')
          .set(provider)
          .where('tenant_id', '=', tenant_id)
          .where('name', '=', name)
          .where('base_url', 'is not distinct from', before?.base_url ?? null)
          .where('default_model', 'is not distinct from', before?.default_model ?? null)
          .where('sealed_key', 'is not distinct from', before?.sealed_key ?? null)
          .returning('name')
        const put = await (before === undefined ? inserted : replaced).executeTakeFirst()
        return put !== undefined
      }),

    listProviders: (tenant) =>
      db.tenant(tenant, (trx) =>
        trx.selectFrom('providers').selectAll().where('tenant_id', '=', tenant).orderBy('name').execute(),
      ),

    deleteProvider: (tenant, name) =>
      db.tenant(tenant, async (trx) => {
        const deleted = await trx
          .deleteFrom('providers')
          .where('tenant_id', '=', tenant)
          .where('name', '=', name)
          .returning('name')
          .executeTakeFirst()
        return deleted !== undefined
      }),

    readSettings: (tenant) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .selectFrom('settings')
          .select('value')
          .where('tenant_id', '=', tenant)
          .executeTakeFirst()
        return row === undefined ? {} : readSettingsColumn(codec, row.value)
      }),

    writeSettings: (tenant_id, changes, updated_at) =>
      db.tenant(tenant_id, async (trx) => {
        // Updates an existing row, so that two writers on PostgreSQL wait for each other here.
        const row = await trx
          .insertInto('settings')
          .values({ tenant_id, value: codec.json({}), updated_at })
          .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet({ updated_at }))
          .returning('value')
          .executeTakeFirstOrThrow()
        const merged = Object.entries({ ...readSettingsColumn(codec, row.value), ...changes })
        const value = codec.json(Object.fromEntries(merged.filter(([, one]) => one !== null)))
        await trx.updateTable('settings').set({ value }).where('tenant_id', '=', tenant_id).execute()
      }),

    addKeyUses: (uses) =>
      db.system(async (trx) => {
        for (const [key_id, count] of Object.entries(uses).sort())
          await trx
            .insertInto('key_uses')
            .values({ key_id, uses: count })
            .onConflict((conflict) =>
              conflict.column('key_id').doUpdateSet((eb) => ({ uses: eb('key_uses.uses', '+', count) })),
            )
            .execute()
        const rows = await trx.selectFrom('key_uses').selectAll().execute()
        return Object.fromEntries(rows.map((row) => [row.key_id, row.uses]))
      }),
  }
}

function readSettingsColumn(codec: Codec, stored: unknown): Record<string, unknown> {
  const value = codec.readJson(stored)
  return typeof value === 'object' ? { ...value } : {}
}
