import { createHash } from 'node:crypto'
import { mkdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { errorText } from '../engine/core/errors/error.ts'
import { handlerError } from '../engine/core/errors/handler-errors.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { writePrivateFile } from '../safe/write-private-file.ts'
import { hookFileNames, outermostRepository } from './hook-folders.ts'
import { lineDiff } from './line-diff.ts'
import { loadFile } from './read/load-file.ts'
import type { TrustedScripts } from './trusted-scripts.ts'

/** The store holds the trusted texts: they stay in force when a file changes, and show what changed. */
const MAX_BYTES = 64 * 1_048_576

interface StoredFile {
  readonly sha256: string
  readonly text: string
  /** Trust that was given before scripts were recorded has none. */
  readonly scripts?: TrustedScripts
  /** The repository that the file was in when it was trusted. */
  readonly repository?: string
}

interface Stored {
  readonly version: 1
  readonly files: Readonly<Record<string, StoredFile>>
}

/** The content that a person trusted, with the scripts that it names. */
export interface TrustedFile extends StoredFile {
  readonly path: string
}

/** The contents of repository files that a person has read and trusted, and the hashes of the scripts that they name. */
export interface TrustStore {
  readonly file: string
  /** `new`: no content was trusted at this path · `changed`: another content was. */
  state(path: string, text: string): 'trusted' | 'changed' | 'new'
  /** What was trusted at this path. */
  find(path: string): TrustedFile | undefined
  /** The trusted hook file of a hook folder, whether the folder still has it or not. */
  findInFolder(hookFolder: string): TrustedFile | undefined
  /** Trusts a content, in place of any other hook file of the same folder. */
  trust(path: string, text: string, scripts?: TrustedScripts): void
  /** Removes trust; returns false if there was none. */
  revoke(path: string): boolean
  /** A unified diff from the trusted content to this text; the whole text if none was trusted. */
  pendingDiff(path: string, text: string): string
  paths(): string[]
  /** The trusted files in a folder and the folders below it, links resolved. */
  pathsBelow(folder: string): string[]
  /** The repositories that had trusted files, so that removing `.git` does not hide them. */
  repositories(): string[]
}

/** A trust store in one file of the user. Every call reads the file again: another process may have changed it. */
export function trustStore(file: string): TrustStore {
  const find = (path: string, { files }: Stored = read(file)): TrustedFile | undefined => {
    const key = [keyOf(path), formerKeyOf(path)].find((known) => Object.hasOwn(files, known)) ?? ''
    const known = files[key]
    return known === undefined ? undefined : { path: resolve(path), ...known }
  }
  return {
    file,
    find: (path) => find(path),
    findInFolder(hookFolder) {
      const stored = read(file)
      for (const path of hookFileNames(hookFolder)) {
        const found = find(path, stored)
        if (found !== undefined) return found
      }
      return undefined
    },
    state(path, text) {
      const known = find(path)
      if (known === undefined) return 'new'
      return known.sha256 === sha256(text) ? 'trusted' : 'changed'
    },
    trust(path, text, scripts = {}) {
      const hookFiles = hookFileNames(dirname(resolve(path))).map(keyOf)
      const key = keyOf(path)
      // Other files of the folder, such as recovery rules, are trusted by themselves.
      const replaced = new Set([formerKeyOf(path), ...(hookFiles.includes(key) ? hookFiles : [key])])
      const others = Object.entries(read(file).files).filter(([key]) => !replaced.has(key))
      const repository = outermostRepository(dirname(dirname(key)))
      const root = repository === undefined ? {} : { repository }
      const trusted = { sha256: sha256(text), text, scripts, ...root }
      write(file, { version: 1, files: { ...Object.fromEntries(others), [key]: trusted } })
    },
    revoke(path) {
      const { files } = read(file)
      const others = Object.entries(files).filter(([key]) => key !== keyOf(path) && key !== formerKeyOf(path))
      const isFound = others.length < Object.keys(files).length
      if (isFound) write(file, { version: 1, files: Object.fromEntries(others) })
      return isFound
    },
    pendingDiff: (path, text) => lineDiff(find(path)?.text ?? '', text),
    paths: () => Object.keys(read(file).files),
    pathsBelow(folder) {
      const start = join(realFolder(resolve(folder)), '/')
      return Object.keys(read(file).files).filter((path) => path.startsWith(start))
    },
    repositories: () => Object.values(read(file).files).flatMap(({ repository }) => repository ?? []),
  }
}

/**
 * Two paths to one repository have the same key; a repository that moved has a new one. The hook folder and the file
 * keep their names in it: a symbolic link in their place must not hide what was trusted.
 */
function keyOf(path: string): string {
  const hookFolder = dirname(resolve(path))
  return join(realFolder(dirname(hookFolder)), basename(hookFolder), basename(path))
}

/** The key of trust that was given before links in place of a hook folder counted. */
function formerKeyOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

/** Resolves the links of the part of a path that exists. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    const parent = dirname(folder)
    return parent === folder ? folder : join(realFolder(parent), basename(folder))
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
  return value.version === 1 && isRecord(value.files) && Object.values(value.files).every(isStoredFile)
}

/** The hash is checked: hooks of a damaged text must not come into force. */
function isStoredFile(value: unknown): value is StoredFile {
  if (!isRecord(value) || !hasOnly(value, ['sha256', 'text', 'scripts', 'repository'])) return false
  if (value.repository !== undefined && typeof value.repository !== 'string') return false
  if (typeof value.text !== 'string' || value.sha256 !== sha256(value.text)) return false
  return (
    value.scripts === undefined || (isRecord(value.scripts) && Object.values(value.scripts).every(isScript))
  )
}

function isScript(value: unknown): boolean {
  if (!isRecord(value) || !hasOnly(value, ['sha256', 'link'])) return false
  const { sha256: hash, link } = value
  return (hash === undefined || typeof hash === 'string') && (link === undefined || link === true)
}

function hasOnly(value: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  return Object.keys(value).every((key) => keys.includes(key))
}

function write(file: string, stored: Stored): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    writePrivateFile(file, `${JSON.stringify(stored, undefined, 2)}\n`)
  } catch (error) {
    throw handlerError('trust.store', `${file} cannot be written: ${errorText(error)}`, { cause: error })
  }
}
