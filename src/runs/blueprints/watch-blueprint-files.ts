import { join } from 'node:path'
import type { Clock } from '../../engine/core/time/clock.ts'
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
  const watched = folders.map((folder) => watchAgents(folder, options, () => options.onChange(files())))
  const files = () => watched.flatMap((folder) => folder.files())
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

interface WatchedAgents extends ReloadableFolder {
  files(): readonly BlueprintFileStatus[]
  load(): void
}

/** The agents of one hook folder. */
function watchAgents(
  folder: HookFolder,
  { edition, trust }: WatchBlueprintsOptions,
  onChange: () => void,
): WatchedAgents {
  const { level } = folder
  const path = agentsFolder(folder)
  let files: readonly BlueprintFileStatus[] = []
  const paths = () => findBlueprintFiles(folder, level === 'repository' ? trust : undefined)
  const read = () =>
    paths().flatMap((file) => {
      const previous = files.find((known) => known.file === file)
      return readBlueprintStatus(file, level, { edition, trust, previous }) ?? []
    })
  return {
    path,
    files: () => files,
    // Every agent has a folder of its own, whatever its name.
    concerns: () => true,
    fingerprint() {
      const found = paths()
      const trusted = level === 'repository' ? [trust.file] : []
      return `${found.join('\n')}\n${filesFingerprint([...found, join(path, '.'), ...trusted])}`
    },
    load() {
      files = read()
    },
    reload(final) {
      const fresh = read()
      if (JSON.stringify(fresh) === JSON.stringify(files)) return true
      const isComplete = fresh.length >= files.length && fresh.every(({ state }) => state !== 'red')
      // A file that is still being written is often broken, and an editor may remove it for a moment.
      if (!final && !isComplete) return false
      files = fresh
      onChange()
      return true
    },
  }
}
