import { type Clock, systemClock } from '../../engine/core/time/clock.ts'
import { problemsError } from '../file-problem.ts'
import type { HookFolder } from '../hook-folders.ts'
import { FolderReloader } from './folder-reloader.ts'
import { type HookFileStatus, WatchedFolder, type WatchedFolderOptions } from './watched-folder.ts'

export interface WatchOptions extends WatchedFolderOptions {
  readonly folders: readonly HookFolder[]
  readonly clock?: Clock
}

/** Hook files that are being watched. */
export interface HookFileWatch {
  status(): HookFileStatus[]
  close(): void
}

/**
 * Loads the hook files and watches them. At the start, files that cannot be used are an error that lists every problem.
 * Later, the hooks in use stay.
 */
export function watchHookFiles(options: WatchOptions): HookFileWatch {
  const { folders, clock = systemClock } = options
  const watched = folders.map((folder) => new WatchedFolder(folder, options))
  // Taken before loading, so that a change during loading is noticed.
  const fingerprints = watched.map((folder) => folder.fingerprint())
  const [first, ...rest] = watched.flatMap((folder) => folder.load())
  if (first !== undefined) {
    for (const { folder } of watched) options.apply(folder, [], { hooks: [] })
    throw problemsError([first, ...rest])
  }
  const reloaders = watched.map(
    (folder, index) => new FolderReloader(folder, clock, fingerprints[index] ?? ''),
  )
  return {
    status: () => watched.map(({ status }) => status),
    close: () => {
      for (const reloader of reloaders) reloader.close()
    },
  }
}
