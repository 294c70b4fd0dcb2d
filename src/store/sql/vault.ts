import type { VaultStore } from '../stores/vault-store.ts'
import type { Db } from './database.ts'

type Vault = Omit<VaultStore, 'holdsSealed' | 'sealedUnderOtherKeys' | 'resealCells'>

export function vault(db: Db): Vault {
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
        const gone = await trx
          .deleteFrom('secrets')
          .where('tenant_id', '=', tenant)
          .where('name', '=', name)
          .returning('name')
          .executeTakeFirst()
        return gone !== undefined
      }),

    putProvider: ({ tenant_id, name, ...provider }) =>
      db.tenant(tenant_id, async (trx) => {
        await trx
          .insertInto('providers')
          .values({ tenant_id, name, ...provider })
          .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doUpdateSet(provider))
          .execute()
      }),

    listProviders: (tenant) =>
      db.tenant(tenant, (trx) =>
        trx.selectFrom('providers').selectAll().where('tenant_id', '=', tenant).orderBy('name').execute(),
      ),

    deleteProvider: (tenant, name) =>
      db.tenant(tenant, async (trx) => {
        const gone = await trx
          .deleteFrom('providers')
          .where('tenant_id', '=', tenant)
          .where('name', '=', name)
          .returning('name')
          .executeTakeFirst()
        return gone !== undefined
      }),

    readSettings: (tenant) =>
      db.tenant(tenant, async (trx) => {
        const row = await trx
          .selectFrom('settings')
          .select('value')
          .where('tenant_id', '=', tenant)
          .executeTakeFirst()
        const value = row && codec.readJson(row.value)
        return typeof value === 'object' ? { ...value } : {}
      }),

    writeSettings: (tenant_id, settings, updated_at) =>
      db.tenant(tenant_id, async (trx) => {
        const value = codec.json(settings)
        await trx
          .insertInto('settings')
          .values({ tenant_id, value, updated_at })
          .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet({ value, updated_at }))
          .execute()
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
