import type { Log } from '../../engine/core/sink.ts'
import { createSecrets, type Keyring, type Secrets } from '../../safe/secret.ts'
import type { VaultStore } from '../stores/vault-store.ts'
import type { Db } from './sql-database.ts'

/** Secrets that know how often their keys have encrypted before. */
export async function storedSecrets(
  system: Db['system'],
  keyring: Keyring,
  log: Log | undefined,
): Promise<Secrets> {
  const rows = await system((trx) => trx.selectFrom('key_uses').selectAll().execute())
  const used = Object.fromEntries(rows.map((row) => [row.key_id, row.uses]))
  return createSecrets(keyring, log === undefined ? { used } : { used, log })
}

/** A crash forgets at most so many uses of a key, out of two milliards. */
const EVERY = 4_096

/** Writes down how often the store itself has encrypted. */
export function keyCounter(secrets: Secrets, addKeyUses: VaultStore['addKeyUses']) {
  let counted = secrets.used()
  const flush = async () => {
    const now = secrets.used()
    const uses = Object.entries(now).map(([id, times]) => [id, times - (counted[id] ?? 0)] as const)
    const fresh = uses.filter(([, times]) => times > 0)
    if (fresh.length === 0) return
    await addKeyUses(Object.fromEntries(fresh))
    counted = now
  }
  let left = EVERY
  return {
    flush,
    /** After so many texts were sealed. */
    async add(texts: number): Promise<void> {
      left -= texts
      if (left > 0) return
      left = EVERY
      await flush()
    },
  }
}
