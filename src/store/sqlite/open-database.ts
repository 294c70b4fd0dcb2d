import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import { errorText, isHookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { migrate, refuseNewer } from '../migrations/migrate.ts'
import type { Tables } from '../sql/tables.ts'
import { sqliteDialect, sqliteKit } from './sqlite-dialect.ts'
import { asStoreError, resultOf } from './sqlite-error.ts'
import { ensurePrivateFile, markOpen, refuseIncomplete } from './wal-marker.ts'

const BUSY_MS = 5_000
/** A check reads every page; larger files are found damaged when the damage is read. */
const SMALL_BYTES = 8 * 1024 * 1024
const CACHE_KIB = 16_384
/** 32 MiB of log before it is merged, eight times the usual: measured, recording is nearly twice as fast. */
const LOG_PAGES = 8_000

export interface OpenDatabase {
  readonly database: DatabaseSync
  readonly kysely: Kysely<Tables>
}

/** Opens and migrates. A file that is damaged, newer or not ours is left as it is. */
export async function openDatabase(
  file: string,
  afterStatement?: (step: string) => void,
): Promise<OpenDatabase> {
  let database: DatabaseSync | undefined
  try {
    refuseIncomplete(file)
    ensurePrivateFile(file)
    database = new DatabaseSync(file, { timeout: BUSY_MS, enableForeignKeyConstraints: true })
    refuseForeign(database, file)
    refuseDamaged(database, file)
    useLog(database)
    const kysely = new Kysely<Tables>({ dialect: sqliteDialect(database) })
    await migrate(kysely, sqliteKit, afterStatement)
    markOpen(file)
    return { database, kysely }
  } catch (error) {
    if (database?.isOpen) database.close()
    throw asOpenError(error)
  }
}

function refuseForeign(database: DatabaseSync, file: string): void {
  const tables = database.prepare(`select name from sqlite_master where type = 'table'`).all()
  const names = new Set(tables.map((row) => row.name))
  if (names.has('kysely_migration')) {
    const ran = database.prepare('select name from kysely_migration').all()
    refuseNewer(ran.map((row) => String(row.name)))
  } else if (names.size > 0) throw serverError('store.corrupt', `${file} is a database, but not one of ours`)
}

function refuseDamaged(database: DatabaseSync, file: string): void {
  const size = database
    .prepare('select page_count * page_size as size from pragma_page_count, pragma_page_size')
    .get()
  if (Number(size?.size) > SMALL_BYTES) return
  const found = database.prepare('pragma quick_check(1)').get()?.quick_check
  if (found !== 'ok') throw serverError('store.corrupt', `${file} is damaged: ${String(found)}`)
}

/** FULL: what was acknowledged survives a loss of power too. */
function useLog(database: DatabaseSync): void {
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  database.exec(`pragma cache_size = -${CACHE_KIB}; pragma wal_autocheckpoint = ${LOG_PAGES}`)
}

/** Failures of the file system come without a result of SQLite. */
function asOpenError(error: unknown): unknown {
  if (isHookError(error) || resultOf(error) !== undefined) return asStoreError(error)
  return serverError('store.unavailable', `the database cannot be opened: ${errorText(error)}`, {
    cause: error,
  })
}
