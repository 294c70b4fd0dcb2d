import { serverError } from '../../../engine/core/errors/server-errors.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import type { Clock } from '../../../engine/core/time/clock.ts'
import type { Edition } from '../../../engine/core/values/edition.ts'
import { isMissingPackage } from '../../../safe/missing-package.ts'
import type { Keyring } from '../../../safe/secrets/secret.ts'
import type { Store } from '../../../store/store.ts'

interface OpenStoreOptions {
  /** A postgres URL, or the path of an embedded database. */
  readonly database: string
  readonly keyring: Keyring
  readonly edition: Edition
  readonly clock?: Clock
  readonly log: Log
}

export function isPostgres(database: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(database)
}

/** Rejects URLs of other database servers, which would otherwise be used as file paths. */
export function assertSupportedDatabase(database: string): void {
  if (isPostgres(database) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(database)) return
  throw serverError('gateway.setting', 'database must be a postgres:// address', {
    hint: 'Write postgres://…, or leave it out to use the embedded database in the data folder.',
  })
}

/** Imports only the dialect in use: the other one would cost ten megabytes and a tenth of a second. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { database, keyring, edition, clock, log } = options
  if (isPostgres(database)) {
    const { openPostgresStore } = await import('../../../store/postgres/postgres-store.ts').catch(
      explainMissingPg,
    )
    return openPostgresStore({ url: database, keyring, edition, log })
  }
  const { openSqliteStore } = await import('../../../store/sqlite/sqlite-store.ts')
  return openSqliteStore({ file: database, keyring, log, ...(clock === undefined ? {} : { clock }) })
}

/** `pg` is an optional peer. */
function explainMissingPg(cause: unknown): never {
  if (!isMissingPackage(cause)) throw cause
  throw serverError('gateway.setting', 'database is a PostgreSQL address, which needs the package pg', {
    hint: 'Run `npm install pg` where hookhelm is installed.',
    cause,
  })
}
