import type { Log } from '../../engine/core/records/sink.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { type FileProblem, wholeFileProblem } from '../file-problem.ts'
import type { HookFolder } from '../hook-folders.ts'
import { prepareFileHooks } from '../prepare-file-hooks.ts'
import type { HookFile } from '../schema/hook-file.ts'
import { namesScripts, pinScripts, type TrustedScripts } from '../trusted-scripts.ts'
import { folderFingerprint, isHookFileName } from './folder-changes.ts'
import { hookFileNotices } from './hook-file-notices.ts'
import {
  type HookFileState,
  type HookFolderReading,
  type ReadHookFolderOptions,
  readHookFolder,
  toHookError,
} from './read-hook-folder.ts'

/** What a hook folder contributes at present. */
export interface HookFileStatus {
  readonly level: HookFolder['level']
  readonly folder: string
  readonly file: string | undefined
  readonly state: HookFileState
  /** How many hooks of this file are in use. */
  readonly hooks: number
  readonly problems: readonly FileProblem[]
  /** The scripts that trusted commands name, as they were trusted. */
  readonly scripts?: TrustedScripts
  /** False if trust was given before scripts were recorded, and the hooks name some. */
  readonly coversScripts?: false
}

export interface WatchedFolderOptions extends ReadHookFolderOptions {
  /** Replaces all hooks of the folder at once. Throws and changes nothing if one of them is refused. */
  readonly apply: (source: HookFolder, definitions: readonly HookDefinition[], file: HookFile) => void
  readonly log: Log
}

/** A hook folder and the hooks in use from it. */
export class WatchedFolder {
  readonly folder: HookFolder
  readonly path: string
  readonly concerns = isHookFileName
  readonly #options: WatchedFolderOptions
  #content: string | undefined
  #ids: readonly (string | undefined)[] = []
  #status: HookFileStatus

  constructor(folder: HookFolder, options: WatchedFolderOptions) {
    this.folder = folder
    this.path = folder.folder
    this.#options = options
    const { level, folder: path } = folder
    this.#status = { level, folder: path, file: undefined, state: 'none', hooks: 0, problems: [] }
  }

  get status(): HookFileStatus {
    return this.#status
  }

  /** Reads the folder for the first time and returns the problems, which the caller reports. */
  load(): readonly FileProblem[] {
    this.#apply(this.#read())
    const { state, problems } = this.#status
    if (state !== 'good' && state !== 'red') this.#report()
    // The trusted hooks of a file that cannot be read stay in force, so the start goes on.
    return state === 'red' ? problems : []
  }

  /**
   * Reads the folder again and applies its file if it can be used. The same content is never reported twice. Unless
   * `final`, it applies only changes that keep all hooks in use, and returns false for others: the first part of a file
   * that is still being written may be valid and lack the rest.
   */
  reload(final: boolean): boolean {
    const reading = this.#read()
    if (reading.content === this.#content) return true
    if (!final && !this.#keepsAllHooks(reading)) return false
    this.#apply(reading)
    this.#report()
    return true
  }

  /** Changes when reading the folder again may give another result. Does not read the file. */
  fingerprint(): string {
    return folderFingerprint(this.folder, this.#options.trust)
  }

  #read(): HookFolderReading {
    const { file, hooks } = this.#status
    const previous = { content: this.#content, file: hooks > 0 ? file : undefined }
    return readHookFolder(this.folder, this.#options, previous)
  }

  #keepsAllHooks({ use, text = '' }: HookFolderReading): boolean {
    if (use === undefined || !/[\n}]$/.test(text)) return false
    const ids = new Set(prepareFileHooks(use.hooks, this.folder, this.#options.resolve).map(({ id }) => id))
    return this.#ids.every((id) => ids.has(id))
  }

  #apply(reading: HookFolderReading): void {
    const { content, file, state, use, problems = [], scripts } = reading
    this.#content = content
    try {
      if (use !== undefined) this.#replaceHooks(use, scripts)
      const { level, folder } = this.#status
      const covered = this.#coverage(reading)
      this.#status = { level, folder, state, file, hooks: this.#ids.length, problems, ...covered }
    } catch (error) {
      // Registration refuses hooks too, for example one with an id of another file.
      const problem = wholeFileProblem(file ?? this.folder.folder, toHookError(error))
      this.#status = { ...this.#status, state: 'red', file, problems: [problem] }
    }
  }

  #coverage({ state, use, scripts }: HookFolderReading): Pick<HookFileStatus, 'scripts' | 'coversScripts'> {
    if (scripts !== undefined) return { scripts }
    const isTrusted = this.folder.level === 'repository' && state !== 'untrusted' && use !== undefined
    return isTrusted && namesScripts(use.hooks, this.folder.folder) ? { coversScripts: false } : {}
  }

  #replaceHooks(file: HookFile, scripts: TrustedScripts = {}): void {
    const prepared = prepareFileHooks(file.hooks, this.folder, this.#options.resolve)
    const hooks = pinScripts(prepared, scripts, this.folder.folder)
    this.#options.apply(this.folder, hooks, file)
    this.#ids = hooks.map(({ id }) => id)
  }

  #report(): void {
    const { file, state, hooks, problems } = this.#status
    const { log } = this.#options
    if (state === 'good') log('reload.applied', { file, hooks })
    if (state === 'red') log('reload.kept_previous', { ...problems[0], hooks, problems })
    if (state === 'untrusted' || state === 'changed' || state === 'gone')
      log('trust.needed', { file, state, hooks, text: hookFileNotices(this.#status)[0]?.text })
  }
}
