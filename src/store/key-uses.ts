import type { SqlDatabase } from '../database/sql-database.ts'
import type { Log } from '../engine/core/records/sink.ts'
import { createSecrets, type Keyring, type Secrets } from '../safe/secrets/secret.ts'
import { addKeyUses } from '../secrets/secret-operations.ts'

/** A crash loses at most this many counted uses of a key, out of 2³¹. */
const FLUSH_EVERY = 4_096

/** Secrets that count their uses. */
export interface CountedSecrets {
  readonly secrets: Secrets
  /** Called after what was sealed is written; stores the counts now and then. */
  settle(): Promise<void>
  flush(): Promise<void>
}

/** Creates the secrets with the stored counts of how often each key has encrypted. */
export async function loadSecrets(
  system: SqlDatabase['system'],
  keyring: Keyring,
  log: Log | undefined,
): Promise<CountedSecrets> {
  const used = await system((trx) => addKeyUses(trx, {}))
  return countKeyUses(system, createSecrets(keyring, log === undefined ? { used } : { used, log }))
}

function countKeyUses(system: SqlDatabase['system'], given: Secrets): CountedSecrets {
  let counted = given.used()
  let left = FLUSH_EVERY
  const flush = async () => {
    const now = given.used()
    const uses = Object.entries(now).map(([id, times]) => [id, times - (counted[id] ?? 0)] as const)
    const fresh = uses.filter(([, times]) => times > 0)
    if (fresh.length === 0) return
    await system((trx) => addKeyUses(trx, Object.fromEntries(fresh)))
    counted = now
  }
  const secrets: Secrets = {
    ...given,
    encrypt(plain, path) {
      left--
      return given.encrypt(plain, path)
    },
  }
  // If it fails, the next one stores the counts.
  const settle = async () => {
    if (left > 0) return
    left = FLUSH_EVERY
    await flush().catch(() => {})
  }
  return { secrets, settle, flush }
}
