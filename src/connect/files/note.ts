import { hash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { errorText } from '../../engine/core/error.ts'
import { unusable } from '../text/config-text.ts'
import { digest, type FileState, readState, replaceFile, textOf } from './config-file.ts'

const keptFile = z.strictObject({
  path: z.string(),
  /** Its content before we came; null when there was no such file. */
  before: z.strictObject({ base64: z.string(), sha256: z.string(), mode: z.number() }).nullable(),
  /** The digest of what we wrote. */
  after: z.string(),
})

const noteSchema = z.strictObject({
  version: z.literal(1),
  agent: z.string(),
  level: z.string(),
  /** The configuration that was changed. */
  file: z.string(),
  at: z.number(),
  files: z.array(keptFile),
  /** Folders that had to be made. */
  folders: z.array(z.string()),
})

/** What a connection changed, so that it can be taken back byte for byte. */
export type Note = z.output<typeof noteSchema>
export type KeptFile = Note['files'][number]

export interface NoteName {
  readonly agent: string
  readonly level: string
  readonly file: string
}

export function noteFolder(dataFolder: string): string {
  return join(dataFolder, 'connections')
}

export function readNote(folder: string, name: NoteName): Note | undefined {
  const path = join(folder, noteName(name))
  const state = readState(path)
  if (state === undefined) return undefined
  try {
    const note = noteSchema.parse(JSON.parse(textOf(path, state)))
    for (const { before } of note.files) if (before !== null) stateOf(before)
    return note
  } catch (thrown) {
    throw unusable(
      path,
      `cannot be used: ${errorText(thrown)}`,
      'Move the note away; it is needed for undo only.',
    )
  }
}

export function writeNote(folder: string, note: Note): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, noteName(note))
  const bytes = Buffer.from(`${JSON.stringify(note, undefined, 2)}\n`)
  replaceFile({ path, expected: readState(path), next: { bytes, mode: 0o600 } })
}

export function removeNote(folder: string, name: NoteName): void {
  rmSync(join(folder, noteName(name)), { force: true })
}

export function kept(state: FileState | undefined): KeptFile['before'] {
  if (state === undefined) return null
  const { bytes, mode } = state
  return { base64: bytes.toString('base64'), sha256: digest(bytes), mode }
}

/** A backup that was damaged is no backup. */
export function stateOf(before: KeptFile['before']): FileState | undefined {
  if (before === null) return undefined
  const bytes = Buffer.from(before.base64, 'base64')
  if (digest(bytes) !== before.sha256) throw new Error('the backup in it is damaged')
  return { bytes, mode: before.mode }
}

function noteName({ agent, level, file }: NoteName): string {
  return `${agent}-${level}-${hash('sha256', file, 'hex').slice(0, 16)}.json`
}
