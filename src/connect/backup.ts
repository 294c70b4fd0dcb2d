import { hash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import {
  type ConfigFileState,
  decodeConfig,
  readConfigState,
  unusableConfig,
} from '../agents/config/read-config.ts'
import { errorText } from '../engine/core/error.ts'
import { replaceFile, sha256 } from './replace-file.ts'

const fileBackup = z.strictObject({
  path: z.string(),
  /** Its content before it was connected; null if the file did not exist. */
  before: z.strictObject({ base64: z.string(), sha256: z.string(), mode: z.number() }).nullable(),
  /** The digest of the content that Hookhelm wrote. */
  after: z.string(),
})

const backupSchema = z.strictObject({
  version: z.literal(1),
  agent: z.string(),
  level: z.string(),
  /** The agent's configuration file. */
  file: z.string(),
  at: z.number(),
  files: z.array(fileBackup),
  /** Folders that `connect` created. */
  folders: z.array(z.string()),
})

/** What a connection changed, so that `undo` can restore it byte for byte. */
export type ConnectionBackup = z.output<typeof backupSchema>
export type FileBackup = ConnectionBackup['files'][number]

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
  const state = readConfigState(path)
  if (state === undefined) return undefined
  try {
    const backup = backupSchema.parse(JSON.parse(decodeConfig(path, state)))
    for (const { before } of backup.files) if (before !== null) decodeState(before)
    return backup
  } catch (thrown) {
    throw unusableConfig(
      path,
      `cannot be used: ${errorText(thrown)}`,
      'Move this backup away; only `hookhelm undo` needs it.',
    )
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
