import type { Log } from '../../engine/core/sink.ts'
import { createSecrets, type Keyring, type Secrets } from '../../safe/secret.ts'
import type { Db } from './database.ts'

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
