import type { Codec, Query } from './database.ts'

/** Tells every node that the definitions of these tenants have changed; in the transaction that changes them. */
export async function bumpVersions(trx: Query, codec: Codec, tenants: readonly string[]): Promise<void> {
  // Sorted, so that two transactions wait for one another instead of locking each other out.
  for (const tenant_id of [...new Set(tenants)].sort())
    await trx
      .insertInto('definition_versions')
      .values({ tenant_id, version: 1, stamp: codec.stamp })
      .onConflict((conflict) =>
        conflict
          .column('tenant_id')
          .doUpdateSet((eb) => ({ version: eb('definition_versions.version', '+', 1), stamp: codec.stamp })),
      )
      .execute()
}
