import type { Edition } from '../../engine/core/edition.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import { isMissingPackage } from '../../safe/missing-package.ts'
import type { Keyring } from '../../safe/secret.ts'
import type { Store } from '../../store/store.ts'

interface StoreOptions {
  /** A postgres address, or the path of an embedded database. */
  readonly database: string
  readonly keyring: Keyring
  readonly edition: Edition
  readonly log: Log
}

export function isPostgres(database: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(database)
}

/** Else the address of another server would be taken for the path of a file. */
export function refuseOtherDatabases(database: string): void {
  if (isPostgres(database) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(database)) return
  throw serverError('gateway.setting', 'database must be a postgres:// address', {
    hint: 'postgres:// only; without it an embedded database in the data folder is used.',
  })
}

/** Only the dialect that is used is loaded: the other would cost ten megabytes and a tenth of a second. */
export async function openStore({ database, keyring, edition, log }: StoreOptions): Promise<Store> {
  if (isPostgres(database)) {
    const { openPostgresStore } = await import('../../store/postgres/postgres-store.ts').catch(
      explainMissingPg,
    )
    return openPostgresStore({ url: database, keyring, edition, log })
  }
  const { openSqliteStore } = await import('../../store/sqlite/sqlite-store.ts')
  return openSqliteStore({ file: database, keyring, log })
}

/** `pg` is an optional peer. */
function explainMissingPg(cause: unknown): never {
  if (!isMissingPackage(cause)) throw cause
  throw serverError('gateway.setting', 'database is a PostgreSQL address, which needs the package pg', {
    hint: 'Run `npm install pg` where hookhelm is installed.',
    cause,
  })
}
