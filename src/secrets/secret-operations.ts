import { sql } from 'kysely'
import { inSystem, inTenant, type Tx } from '../database/operation.ts'
import { find, insert, listRows, removeRow, update } from '../database/rows.ts'
import type { QueryBuilder } from '../database/sql-database.ts'
import { handlerError } from '../engine/core/errors/handler-errors.ts'
import { type ProviderRow, providers, type SecretRow, secrets, settings } from './secret-tables.ts'

export const vaultOperations = {
  putSecret: inTenant(async (tx, secret: SecretRow): Promise<void> => {
    const { sealed, updated_at } = secret
    await insert(tx, secrets, secret, { sealed, updated_at })
  }),

  listSecrets: inTenant((tx, tenant: string) => listRows(tx, secrets, { tenant_id: tenant }, ['name'])),

  deleteSecret: inTenant((tx, tenant: string, name: string) =>
    removeRow(tx, secrets, { tenant_id: tenant, name }),
  ),

  /** Inserts a provider, or replaces `before`. False if another writer has changed it meanwhile. */
  putProvider: inTenant(async (tx, provider: ProviderRow, before?: ProviderRow) => {
    if (before === undefined) return (await insert(tx, providers, provider, 'keep')) !== undefined
    const { tenant_id, name, ...changes } = provider
    const { base_url, default_model, sealed_key } = before
    const unchanged = { tenant_id, name, base_url, default_model, sealed_key }
    return (await update(tx, providers, unchanged, changes)).length > 0
  }),

  listProviders: inTenant((tx, tenant: string) => listRows(tx, providers, { tenant_id: tenant }, ['name'])),

  deleteProvider: inTenant((tx, tenant: string, name: string) =>
    removeRow(tx, providers, { tenant_id: tenant, name }),
  ),

  /** The settings of a tenant. The master tenant has those of the gateway. */
  readSettings: inTenant((tx, tenant: string) => readSettings(tx, tenant)),

  /** Merges changes into the stored settings, atomically. Null removes a setting. */
  writeSettings: inTenant(
    async (
      tx,
      tenant_id: string,
      changes: Readonly<Record<string, unknown>>,
      updated_at: number,
    ): Promise<void> => {
      // Updates an existing row, so that two writers on PostgreSQL wait for each other here.
      await insert(tx, settings, { tenant_id, value: {}, updated_at }, { updated_at })
      const merged = Object.entries({ ...(await readSettings(tx, tenant_id)), ...changes })
      const value = Object.fromEntries(merged.filter(([, one]) => one !== null))
      await update(tx, settings, { tenant_id }, { value })
    },
  ),

  /** Adds to the stored counts of how often each key has encrypted. Returns the totals. */
  addKeyUses: inSystem((tx, uses: Readonly<Record<string, number>>) => addKeyUses(tx.trx, uses)),
}

async function readSettings(tx: Tx, tenant_id: string): Promise<Readonly<Record<string, unknown>>> {
  const row = await find(tx, settings, { tenant_id })
  // Without them, limits that people have set would be gone.
  if (row?.value === null)
    throw handlerError('secret.unreadable', 'the settings cannot be read: the key that sealed them is gone')
  return row?.value ?? {}
}

export async function addKeyUses(
  trx: QueryBuilder,
  uses: Readonly<Record<string, number>>,
): Promise<Readonly<Record<string, number>>> {
  for (const [key_id, count] of Object.entries(uses).sort())
    await sql`insert into key_uses (key_id, uses) values (${key_id}, ${count})
      on conflict (key_id) do update set uses = key_uses.uses + excluded.uses`.execute(trx)
  const { rows } = await sql<{ key_id: string; uses: number }>`select key_id, uses from key_uses`.execute(trx)
  return Object.fromEntries(rows.map((row) => [row.key_id, row.uses]))
}
