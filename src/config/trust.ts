import { createHash, randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isRecord } from '../engine/core/check.ts'
import { errorText } from '../engine/core/error.ts'
import { handlerError } from '../engine/core/handler-errors.ts'
import { lineDiff } from './line-diff.ts'
import { loadFile } from './read/load-file.ts'

/** The store holds the trusted texts, so that it can show what changed. */
const MAX_BYTES = 64 * 1_048_576

interface TrustedFile {
  readonly sha256: string
  readonly text: string
}

interface Stored {
  readonly version: 1
  readonly files: Readonly<Record<string, TrustedFile>>
}

/**
 * The contents of repository files that a person has read and trusted. Trust covers the file itself, not the scripts
 * that it names.
 */
export interface TrustStore {
  readonly file: string
  /** `new`: no content was trusted at this path · `changed`: another content was. */
  state(path: string, text: string): 'trusted' | 'changed' | 'new'
  trust(path: string, text: string): void
  /** Removes trust; returns false if there was none. */
  revoke(path: string): boolean
  /** A unified diff from the trusted content to this text; the whole text if none was trusted. */
  pendingDiff(path: string, text: string): string
  paths(): string[]
}

/** A trust store in one file of the user. Every call reads the file again: another process may have changed it. */
export function trustStore(file: string): TrustStore {
  const entry = (path: string) => read(file).files[keyOf(path)]
  return {
    file,
    state(path, text) {
      const known = entry(path)
      if (known === undefined) return 'new'
      return known.sha256 === sha256(text) ? 'trusted' : 'changed'
    },
    trust(path, text) {
      const { files } = read(file)
      write(file, { version: 1, files: { ...files, [keyOf(path)]: { sha256: sha256(text), text } } })
    },
    revoke(path) {
      const { [keyOf(path)]: gone, ...files } = read(file).files
      if (gone !== undefined) write(file, { version: 1, files })
      return gone !== undefined
    },
    pendingDiff: (path, text) => lineDiff(entry(path)?.text ?? '', text),
    paths: () => Object.keys(read(file).files),
  }
}

/** Two paths to one file have the same key; a file that moved has a new one. */
function keyOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function read(file: string): Stored {
  try {
    const loaded = loadFile(file, 'user', { maxBytes: MAX_BYTES })
    const stored: unknown = loaded === undefined ? { version: 1, files: {} } : JSON.parse(loaded.text)
    if (isStored(stored)) return stored
  } catch (error) {
    throw handlerError('trust.store', `${file} cannot be used: ${errorText(error)}`, { cause: error })
  }
  throw handlerError('trust.store', `${file} cannot be used: it is not a trust store of version 1`)
}

function isStored(value: unknown): value is Stored {
  if (!isRecord(value) || !hasOnly(value, ['version', 'files'])) return false
  return value.version === 1 && isRecord(value.files) && Object.values(value.files).every(isTrustedFile)
}

function isTrustedFile(value: unknown): value is TrustedFile {
  if (!isRecord(value) || !hasOnly(value, ['sha256', 'text'])) return false
  return typeof value.sha256 === 'string' && typeof value.text === 'string'
}

function hasOnly(value: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  return Object.keys(value).every((key) => keys.includes(key))
}

/** Writes a new file and renames it, so that concurrent readers see either the old or the new content. */
function write(file: string, stored: Stored): void {
  const folder = dirname(file)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const fresh = join(folder, `.trust-${randomUUID()}`)
  try {
    const handle = openSync(fresh, 'wx', 0o600)
    try {
      writeSync(handle, `${JSON.stringify(stored, undefined, 2)}\n`)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw handlerError('trust.store', `${file} cannot be written: ${errorText(error)}`, { cause: error })
  }
}
