import { errorText, HookError } from '../../engine/core/error.ts'
import { handlerError } from '../../engine/core/handler-errors.ts'
import { type FileProblem, wholeFileProblem } from '../file-problem.ts'
import { type HookFolder, hookFileIn } from '../hook-folders.ts'
import { checkManagedFields } from '../prepare-file-hooks.ts'
import { type FileOwner, type LoadedFile, loadFile, unreadableFile } from '../read/load-file.ts'
import { type ReadHookTextOptions, readHookText } from '../read/read-hook-file.ts'
import type { HookFile } from '../schema/hook-file.ts'
import type { TrustStore } from '../trust.ts'

/**
 * none: there is no file · good: its hooks are in use · red: the file cannot be used, its previous hooks stay ·
 * untrusted: the user has not trusted this content, the hooks trusted before stay
 */
export type HookFileState = 'none' | 'good' | 'red' | 'untrusted'

export interface ReadHookFolderOptions extends ReadHookTextOptions {
  /** Without a trust store, files of a repository are not used. */
  readonly trust?: TrustStore
  readonly owner?: FileOwner
}

/** The state of a folder's hook file when it was read. */
export interface HookFolderReading {
  /** Identifies the content, so that the same content is neither applied nor reported twice. */
  readonly content: string
  readonly state: HookFileState
  readonly file?: string
  readonly problems?: readonly FileProblem[]
  /** The hooks to put in use. */
  readonly use?: HookFile
  readonly text?: string
}

/** What the caller knows from the previous reading. */
export interface PreviousReading {
  readonly content: string | undefined
  /** The file whose hooks are in use. */
  readonly file: string | undefined
}

const NO_HOOKS: HookFile = { hooks: [] }

/** Reads the hook file of a folder. Never throws: errors become problems of the file. */
export function readHookFolder(
  folder: HookFolder,
  options: ReadHookFolderOptions,
  previous: PreviousReading,
): HookFolderReading {
  let file: string | undefined
  try {
    file = hookFileIn(folder.folder)
    if (file === undefined) return readMissing(previous)
    const { owner } = options
    const loaded = loadFile(file, folder.level, owner === undefined ? {} : { owner })
    return loaded === undefined
      ? readMissing(previous)
      : readLoaded({ folder, options, previous, file }, loaded)
  } catch (error) {
    return failedReading(file ?? folder.folder, toHookError(error))
  }
}

function readMissing({ file }: PreviousReading): HookFolderReading {
  return file === undefined
    ? { content: 'none', state: 'none' }
    : failedReading(file, unreadableFile(file, 'no longer exists'))
}

function failedReading(file: string, error: HookError): HookFolderReading {
  const content = `${file} ${error.code} ${error.message}`
  return { content, state: 'red', file, problems: [wholeFileProblem(file, error)] }
}

interface LoadedFrom {
  readonly folder: HookFolder
  readonly options: ReadHookFolderOptions
  readonly previous: PreviousReading
  readonly file: string
}

function readLoaded(
  { folder, options, previous, file }: LoadedFrom,
  { text, hash }: LoadedFile,
): HookFolderReading {
  const trust = folder.level !== 'repository' ? 'trusted' : (options.trust?.state(file, text) ?? 'new')
  const content = `${file} ${hash} ${trust}`
  if (content === previous.content) return { content, state: 'good' }
  // A changed file keeps the hooks that were trusted before; revoked trust removes them.
  if (trust === 'changed') return { content, state: 'untrusted', file }
  if (trust === 'new') return { content, state: 'untrusted', file, use: NO_HOOKS }
  const result = readHookText(text, file, { ...options, also: (hooks) => checkManagedFields(hooks, folder) })
  return result.kind === 'bad'
    ? { content, state: 'red', file, problems: result.problems }
    : { content, state: 'good', file, use: result.file, text }
}

/** Gives an error of the file system the code of an unreadable file. */
export function toHookError(error: unknown): HookError {
  return error instanceof HookError
    ? error
    : handlerError('config.unreadable', errorText(error), { cause: error })
}
