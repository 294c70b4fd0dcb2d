import { errorText, HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { type FileProblem, wholeFileProblem } from '../file-problem.ts'
import { type HookFolder, hookFileIn } from '../hook-folders.ts'
import { checkManagedFields } from '../prepare-file-hooks.ts'
import { type FileOwner, type LoadedFile, loadFile, unreadableFile } from '../read/load-file.ts'
import { type ReadHookTextOptions, readHookText } from '../read/read-hook-file.ts'
import type { HookFile } from '../schema/hook-file.ts'
import type { TrustedFile, TrustStore } from '../trust.ts'
import type { TrustedScripts } from '../trusted-scripts.ts'

/**
 * none: there is no file · good: its hooks are in use · red: the file cannot be used, its previous hooks stay ·
 * untrusted: the user has never trusted a content here, so there are no hooks · changed, gone: the file of a repository
 * is not as it was trusted or no longer exists, and the trusted hooks stay in force
 */
export type HookFileState = 'none' | 'good' | 'red' | 'untrusted' | 'changed' | 'gone'

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
  /** The scripts that the trusted hooks name; undefined if their trust does not cover scripts. */
  readonly scripts?: TrustedScripts | undefined
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
  try {
    const present = loadPresent(folder, options.owner)
    const read = folder.level === 'repository' ? readRepositoryFile : readOwnFile
    return read(folder, options, previous, present)
  } catch (error) {
    return failedReading(folder.folder, toHookError(error))
  }
}

/** The file that a folder has at present, as far as it can be read. */
interface PresentFile {
  readonly file?: string
  readonly loaded?: LoadedFile
  readonly error?: HookError
}

function loadPresent({ folder, level }: HookFolder, owner: FileOwner | undefined): PresentFile {
  let file: string | undefined
  try {
    file = hookFileIn(folder)
    const loaded =
      file === undefined ? undefined : loadFile(file, level, owner === undefined ? {} : { owner })
    return file === undefined || loaded === undefined ? {} : { file, loaded }
  } catch (error) {
    return { file: file ?? folder, error: toHookError(error) }
  }
}

/** Reads the file of the administrator or the user, which needs no trust. */
function readOwnFile(
  folder: HookFolder,
  options: ReadHookFolderOptions,
  previous: PreviousReading,
  { file, loaded, error }: PresentFile,
): HookFolderReading {
  if (error !== undefined) return failedReading(file ?? folder.folder, error)
  if (file === undefined || loaded === undefined)
    return previous.file === undefined
      ? { content: 'none', state: 'none' }
      : failedReading(previous.file, unreadableFile(previous.file, 'no longer exists'))
  const content = `${file} ${loaded.hash}`
  if (content === previous.content) return { content, state: 'good' }
  return readContent(folder, options, { file, text: loaded.text, content })
}

/** Reads what the user trusted. The content of the file itself is not parsed unless it is the trusted one. */
function readRepositoryFile(
  folder: HookFolder,
  options: ReadHookFolderOptions,
  previous: PreviousReading,
  present: PresentFile,
): HookFolderReading {
  const { file, loaded, error } = present
  const trusted = options.trust?.findInFolder(folder.folder)
  if (trusted === undefined) {
    if (error !== undefined) return { ...failedReading(file ?? folder.folder, error), use: NO_HOOKS }
    if (file === undefined || loaded === undefined) return { content: 'none', state: 'none', use: NO_HOOKS }
    return { content: `${file} ${loaded.hash} new`, state: 'untrusted', file, use: NO_HOOKS }
  }
  const { path, sha256, scripts } = trusted
  const state = stateOf(trusted, present)
  const content = [state, path, sha256, JSON.stringify(scripts), file, loaded?.hash, error?.message].join(' ')
  if (content === previous.content) return { content, state }
  const reading = readContent(folder, options, { file: path, text: trusted.text, content })
  if (reading.state === 'red') return reading
  if (state === 'good') return { ...reading, scripts }
  const problems = error === undefined ? [] : [wholeFileProblem(file ?? path, error)]
  // Without a text the change waits until the file is complete.
  const { text: _, ...rest } = reading
  return { ...rest, state, scripts, problems }
}

function stateOf(trusted: TrustedFile, { file, loaded, error }: PresentFile): 'good' | 'changed' | 'gone' {
  if (error !== undefined) return 'changed'
  if (file === undefined || loaded === undefined) return 'gone'
  return file === trusted.path && loaded.text === trusted.text ? 'good' : 'changed'
}

function failedReading(file: string, error: HookError): HookFolderReading {
  const content = `${file} ${error.code} ${error.message}`
  return { content, state: 'red', file, problems: [wholeFileProblem(file, error)] }
}

function readContent(
  folder: HookFolder,
  options: ReadHookFolderOptions,
  { file, text, content }: { readonly file: string; readonly text: string; readonly content: string },
): HookFolderReading {
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
