import { join } from 'node:path'
import type { Clock } from '../../engine/core/values/clock.ts'
import type { Edition } from '../../engine/core/values/edition.ts'
import type { HookFolder } from '../../hook-files/hook-folders.ts'
import type { TrustStore } from '../../hook-files/trust.ts'
import { filesFingerprint } from '../../hook-files/watch/folder-changes.ts'
import { FolderReloader, type ReloadableFolder } from '../../hook-files/watch/folder-reloader.ts'
import {
  agentsFolder,
  type BlueprintFileStatus,
  findBlueprintFiles,
  readBlueprintStatus,
} from './blueprint-files.ts'

export interface WatchBlueprintsOptions {
  /** In the order of authority: of two agents with one name the first is used. */
  readonly folders: readonly HookFolder[]
  readonly edition: Edition
  readonly trust: TrustStore
  readonly clock: Clock
  /** Called with all files after some of them changed. */
  onChange(files: readonly BlueprintFileStatus[]): void
}

export interface BlueprintFilesWatch {
  files(): readonly BlueprintFileStatus[]
  close(): void
}

/** Reads the blueprint files of all folders and watches them. Files that cannot be used are in `files`, with their problems. */
export function watchBlueprintFiles(options: WatchBlueprintsOptions): BlueprintFilesWatch {
  const { folders, clock } = options
  const watched = folders.map((folder) => new WatchedAgents(folder, options, () => options.onChange(files())))
  const files = () => watched.flatMap((folder) => folder.files)
  const reloaders = watched.map((folder) => {
    // Taken before reading, so that a change during reading is noticed.
    const fingerprint = folder.fingerprint()
    folder.load()
    return new FolderReloader(folder, clock, fingerprint)
  })
  return {
    files,
    close: () => {
      for (const reloader of reloaders) reloader.close()
    },
  }
}

/** The agents of one hook folder. */
class WatchedAgents implements ReloadableFolder {
  readonly path: string
  readonly #folder: HookFolder
  readonly #options: WatchBlueprintsOptions
  readonly #onChange: () => void
  #files: readonly BlueprintFileStatus[] = []

  constructor(folder: HookFolder, options: WatchBlueprintsOptions, onChange: () => void) {
    this.path = agentsFolder(folder)
    this.#folder = folder
    this.#options = options
    this.#onChange = onChange
  }

  get files(): readonly BlueprintFileStatus[] {
    return this.#files
  }

  /** Every agent has a folder of its own, whatever its name. */
  concerns(): boolean {
    return true
  }

  fingerprint(): string {
    const paths = this.#paths()
    const trust = this.#folder.level === 'repository' ? [this.#options.trust.file] : []
    return `${paths.join('\n')}\n${filesFingerprint([...paths, join(this.path, '.'), ...trust])}`
  }

  load(): void {
    this.#files = this.#read()
  }

  reload(final: boolean): boolean {
    const files = this.#read()
    const isSame = JSON.stringify(files) === JSON.stringify(this.#files)
    if (isSame) return true
    const isComplete = files.length >= this.#files.length && files.every(({ state }) => state !== 'red')
    // A file that is still being written is often broken, and an editor may remove it for a moment.
    if (!final && !isComplete) return false
    this.#files = files
    this.#onChange()
    return true
  }

  #paths(): string[] {
    const { level } = this.#folder
    return findBlueprintFiles(this.#folder, level === 'repository' ? this.#options.trust : undefined)
  }

  #read(): BlueprintFileStatus[] {
    const { edition, trust } = this.#options
    return this.#paths().flatMap((file) => {
      const previous = this.#files.find((known) => known.file === file)
      return readBlueprintStatus(file, this.#folder.level, { edition, trust, previous }) ?? []
    })
  }
}
