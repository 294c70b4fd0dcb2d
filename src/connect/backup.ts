import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ConfigFileState,
  decodeConfig,
  readConfigState,
  unusableConfig,
} from '../agents/config/read-config.ts'
import { errorText, HookError, isHookError } from '../engine/core/errors/error.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { replaceFile, sha256 } from './replace-file.ts'

/** A file that `connect` changed. */
export interface FileBackup {
  readonly path: string
  /** Its content before it was connected; null if the file did not exist. */
  readonly before: { readonly base64: string; readonly sha256: string; readonly mode: number } | null
  /** The digest of the content that Hookhelm wrote. */
  readonly after: string
}

/** What a connection changed, so that `undo` can restore it byte for byte. */
export interface ConnectionBackup {
  readonly version: 1
  readonly agent: string
  readonly level: string
  /** The agent's configuration file. */
  readonly file: string
  readonly at: number
  readonly files: readonly FileBackup[]
  /** Folders that `connect` created. */
  readonly folders: readonly string[]
  /** The flags of `hookhelm connect`, so that the doctor can print the command again. Earlier versions stored none. */
  readonly flags?: readonly string[]
}

function isBackup(value: unknown): value is ConnectionBackup {
  if (!isRecord(value)) return false
  const { version, agent, level, file, at, files, folders, flags = [] } = value
  const hasTexts = [agent, level, file].every(isText) && typeof at === 'number'
  const hasLists = Array.isArray(files) && Array.isArray(folders)
  const hasFlags = Array.isArray(flags) && flags.every(isText)
  return (
    version === 1 && hasTexts && hasLists && hasFlags && files.every(isFileBackup) && folders.every(isText)
  )
}

function isFileBackup(value: unknown): value is FileBackup {
  if (!isRecord(value) || !isText(value.path) || !isText(value.after)) return false
  const { before } = value
  if (before === null) return true
  return isRecord(before) && isText(before.base64) && isText(before.sha256) && typeof before.mode === 'number'
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

export interface BackupKey {
  readonly agent: string
  readonly level: string
  readonly file: string
}

export function backupFolder(dataFolder: string): string {
  return join(dataFolder, 'connections')
}

export function readBackup(folder: string, name: BackupKey): ConnectionBackup | undefined {
  const path = join(folder, backupFileName(name))
  return readConfigState(path) === undefined ? undefined : readBackupFile(path)
}

function readBackupFile(path: string): ConnectionBackup {
  try {
    const state = readConfigState(path)
    const backup: unknown = state === undefined ? undefined : JSON.parse(decodeConfig(path, state))
    if (!isBackup(backup)) throw new HookError('config.field', 'it is not a backup of a connection')
    for (const { before } of backup.files) if (before !== null) decodeState(before)
    return backup
  } catch (thrown) {
    throw unusableConfig(
      path,
      `cannot be used: ${errorText(thrown)}`,
      `Run \`mv ${path} ${path}.old\`; only \`hookhelm undo\` and the doctor need it.`,
    )
  }
}

/** Every connection that `connect` made and `disconnect` did not remove, and the records that cannot be read. */
export function listBackups(folder: string): BackupList {
  const backups: ConnectionBackup[] = []
  const problems: HookError[] = []
  for (const name of backupFiles(folder))
    try {
      backups.push(readBackupFile(join(folder, name)))
    } catch (thrown) {
      if (!isHookError(thrown)) throw thrown
      problems.push(thrown)
    }
  return { backups, problems }
}

export interface BackupList {
  readonly backups: readonly ConnectionBackup[]
  readonly problems: readonly HookError[]
}

function backupFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .sort()
  } catch {
    // Nothing was ever connected.
    return []
  }
}

export function writeBackup(folder: string, backup: ConnectionBackup): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, backupFileName(backup))
  const bytes = Buffer.from(`${JSON.stringify(backup, undefined, 2)}\n`)
  replaceFile({ path, expected: readConfigState(path), next: { bytes, mode: 0o600 } })
}

export function removeBackup(folder: string, name: BackupKey): void {
  rmSync(join(folder, backupFileName(name)), { force: true })
}

export function encodeState(state: ConfigFileState | undefined): FileBackup['before'] {
  if (state === undefined) return null
  const { bytes, mode } = state
  return { base64: bytes.toString('base64'), sha256: sha256(bytes), mode }
}

/** Throws if the backup is damaged. */
export function decodeState(before: FileBackup['before']): ConfigFileState | undefined {
  if (before === null) return undefined
  const bytes = Buffer.from(before.base64, 'base64')
  if (sha256(bytes) !== before.sha256) throw new Error('the backup in it is damaged')
  return { bytes, mode: before.mode }
}

function backupFileName({ agent, level, file }: BackupKey): string {
  return `${agent}-${level}-${hash('sha256', file, 'hex').slice(0, 16)}.json`
}
