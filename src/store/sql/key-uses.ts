import type { Log } from '../../engine/core/sink.ts'
import { createSecrets, type Keyring, type Secrets } from '../../safe/secret.ts'
import type { VaultStore } from '../stores/vault-store.ts'
import type { SqlDatabase } from './sql-database.ts'

/** A crash loses at most this many counted uses of a key, out of 2³¹. */
const FLUSH_EVERY = 4_096

/** Creates the secrets with the stored counts of how often each key has encrypted. */
export async function loadSecrets(
  system: SqlDatabase['system'],
  keyring: Keyring,
  log: Log | undefined,
): Promise<Secrets> {
  const rows = await system((trx) => trx.selectFrom('key_uses').selectAll().execute())
  const used = Object.fromEntries(rows.map((row) => [row.key_id, row.uses]))
  return createSecrets(keyring, log === undefined ? { used } : { used, log })
}

/** Stores how often the store itself has encrypted. */
export function countKeyUses(secrets: Secrets, addKeyUses: VaultStore['addKeyUses']) {
  let counted = secrets.used()
  const flush = async () => {
    const now = secrets.used()
    const uses = Object.entries(now).map(([id, times]) => [id, times - (counted[id] ?? 0)] as const)
    const fresh = uses.filter(([, times]) => times > 0)
    if (fresh.length === 0) return
    await addKeyUses(Object.fromEntries(fresh))
    counted = now
  }
  let left = FLUSH_EVERY
  return {
    flush,
    /** Counts sealed texts, and stores the counts now and then. */
    async add(texts: number): Promise<void> {
      left -= texts
      if (left > 0) return
      left = FLUSH_EVERY
      await flush()
    },
  }
}
