import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename } from 'node:path'
import { type HookFolder, hookFileNames } from '../hook-folders.ts'
import type { TrustStore } from '../trust.ts'

/**
 * A text that changes when the hook file of a folder, or the trust in it, may have changed. It reads only the metadata
 * of the files. The change time is part of it, because programs cannot set it back.
 */
export function folderFingerprint({ folder, level }: HookFolder, trust: TrustStore | undefined): string {
  const trustFiles = level === 'repository' && trust !== undefined ? [trust.file] : []
  return filesFingerprint([...hookFileNames(folder), ...trustFiles])
}

/** The metadata of files, as one text. */
export function filesFingerprint(paths: readonly string[]): string {
  return paths
    .map(statOf)
    .map((stats) =>
      stats === undefined ? '-' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`,
    )
    .join(' | ')
}

function statOf(path: string) {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    // Reading the folder reports the error.
    return undefined
  }
}

const names = new Set(hookFileNames('').map((path) => basename(path)))

/** Whether a hook file may have this name. */
export function isHookFileName(name: string): boolean {
  return names.has(name)
}

/** A folder that may not exist yet. */
export interface WatchableFolder {
  readonly path: string
  /** Whether an entry with this name matters. */
  concerns(name: string): boolean
}

/**
 * Calls back when an entry of a folder that matters may have changed. The system may drop notifications and the folder may not
 * exist yet, so the caller also polls.
 */
export class FolderWatcher {
  readonly #folder: WatchableFolder
  readonly #onChange: () => void
  #watcher: FSWatcher | undefined
  /** Identifies the watched folder. The inode alone is not enough: a new folder may get the same one. */
  #identity: string | undefined

  constructor(folder: WatchableFolder, onChange: () => void) {
    this.#folder = folder
    this.#onChange = onChange
    this.renew()
  }

  /** Watches the folder that has the path now: a watcher stays with the folder that it was opened on. */
  renew(): void {
    const identity = identityOf(this.#folder.path)
    if (identity === this.#identity) return
    this.close()
    this.#identity = identity
    if (identity === undefined) return
    try {
      // The gateway may keep its database in the same folder, which changes all the time.
      this.#watcher = watch(this.#folder.path, { persistent: false }, (_, name) => {
        if (name === null || this.#folder.concerns(name)) this.#onChange()
      })
      this.#watcher.on('error', () => this.close())
    } catch {
      // The system may have no watches left. Then only polling finds changes.
      this.#identity = undefined
    }
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#identity = undefined
  }
}

function identityOf(folder: string): string | undefined {
  const stats = statOf(folder)
  return stats && `${stats.ino} ${stats.birthtimeNs}`
}
