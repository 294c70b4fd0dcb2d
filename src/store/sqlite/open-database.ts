import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { sqliteDialect, sqliteSchema } from '../../database/sqlite/sqlite-dialect.ts'
import { extendedResultCode, isBusy, sqliteStoreError } from '../../database/sqlite/sqlite-error.ts'
import { assertWalPresent, ensurePrivateFile, writeWalMarker } from '../../database/sqlite/wal-marker.ts'
import { errorText, isHookError } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import type { Tables } from '../kysely-tables.ts'
import { assertKnownSteps, migrate } from '../migrate.ts'

const BUSY_MS = 5_000
const BUSY_RETRY_MS = 10
/** The check reads every page. In larger files, damage shows when it is read. */
const MAX_CHECKED_BYTES = 8 * 1024 * 1024
const CACHE_KIB = 16_384
/** A checkpoint every 32 MiB of WAL, eight times the default: recording is nearly twice as fast (measured). */
const CHECKPOINT_PAGES = 8_000

export interface OpenDatabase {
  readonly database: DatabaseSync
  readonly kysely: Kysely<Tables>
}

/** Opens and migrates a database. Throws for a file that is damaged, newer or not ours, and leaves it unchanged. */
export async function openDatabase(
  file: string,
  afterStatement?: (step: string) => void,
): Promise<OpenDatabase> {
  let database: DatabaseSync | undefined
  try {
    assertWalPresent(file)
    ensurePrivateFile(file)
    database = new DatabaseSync(file, { timeout: BUSY_MS, enableForeignKeyConstraints: true })
    const ran = readStepsRun(database, file)
    assertKnownSteps(ran)
    assertUndamaged(database, file)
    enableWal(database)
    const kysely = new Kysely<Tables>({ dialect: sqliteDialect(database) })
    await migrate(kysely, sqliteSchema, { ran, afterStatement })
    writeWalMarker(file)
    // From here on `waitWhileBusy` waits for other processes: SQLite would hold the thread, and every read with it.
    database.exec('pragma busy_timeout = 0')
    return { database, kysely }
  } catch (error) {
    if (database?.isOpen) database.close()
    throw asOpenError(error)
  }
}

function readStepsRun(database: DatabaseSync, file: string): readonly string[] {
  const tables = database.prepare(`select name from sqlite_master where type = 'table'`).all()
  if (tables.some(({ name }) => name === 'kysely_migration'))
    return database
      .prepare('select name from kysely_migration')
      .all()
      .map(({ name }) => String(name))
  if (tables.length > 0) throw serverError('store.corrupt', `${file} is a database, but not of Hookhelm`)
  return []
}

function assertUndamaged(database: DatabaseSync, file: string): void {
  const size = database
    .prepare('select page_count * page_size as size from pragma_page_count, pragma_page_size')
    .get()
  if (Number(size?.size) > MAX_CHECKED_BYTES) return
  const found = database.prepare('pragma quick_check(1)').get()?.quick_check
  if (found !== 'ok') throw serverError('store.corrupt', `${file} is damaged: ${String(found)}`)
}

/** `full`: acknowledged writes survive a power failure too. */
function enableWal(database: DatabaseSync): void {
  changeJournalMode(database)
  database.exec('pragma synchronous = full')
  database.exec(`pragma cache_size = -${CACHE_KIB}; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
}

/** SQLite applies its busy timeout to statements, but not to a change of the journal mode, so this waits itself. */
function changeJournalMode(database: DatabaseSync): void {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  const until = systemClock.elapsed() + BUSY_MS
  for (;;) {
    try {
      database.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (!isBusy(error) || systemClock.elapsed() > until) throw error
      Atomics.wait(pause, 0, 0, BUSY_RETRY_MS)
    }
  }
}

/** File system errors have no SQLite result code. */
function asOpenError(error: unknown): unknown {
  if (isHookError(error) || extendedResultCode(error) !== undefined) return sqliteStoreError(error)
  return serverError('store.unavailable', `the database cannot be opened: ${errorText(error)}`, {
    cause: error,
  })
}
