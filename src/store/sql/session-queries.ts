import type { SessionStore } from '../stores/session-store.ts'
import type { SqlDatabase } from './sql-database.ts'

export function sessionQueries(db: SqlDatabase): SessionStore {
  const { codec } = db
  return {
    keepSessionFolder: (tenant, session, folder, now) =>
      db.tenant(tenant, async (trx) => {
        const known = await trx
          .updateTable('session_folders')
          .set({ last_at: codec.now(now) })
          .where('tenant_id', '=', tenant)
          .where('session', '=', session)
          .returning('folder')
          .executeTakeFirst()
        if (known !== undefined || folder === undefined) return known?.folder
        // Another node may have stored its folder since.
        const stored = await trx
          .insertInto('session_folders')
          .values({ tenant_id: tenant, session, folder, last_at: codec.now(now) })
          .onConflict((conflict) =>
            conflict.columns(['tenant_id', 'session']).doUpdateSet({ last_at: codec.now(now) }),
          )
          .returning('folder')
          .executeTakeFirstOrThrow()
        return stored.folder
      }),
  }
}
