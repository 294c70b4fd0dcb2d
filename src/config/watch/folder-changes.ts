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
  return [...hookFileNames(folder), ...trustFiles]
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

/**
 * Calls back when a hook file in a folder may have changed. The system may drop notifications and the folder may not
 * exist yet, so the caller also polls.
 */
export class FolderWatcher {
  readonly #folder: string
  readonly #onChange: () => void
  #watcher: FSWatcher | undefined
  /** Identifies the watched folder. The inode alone is not enough: a new folder may get the same one. */
  #identity: string | undefined

  constructor(folder: string, onChange: () => void) {
    this.#folder = folder
    this.#onChange = onChange
    this.renew()
  }

  /** Watches the folder that has the path now: a watcher stays with the folder that it was opened on. */
  renew(): void {
    const identity = identityOf(this.#folder)
    if (identity === this.#identity) return
    this.close()
    this.#identity = identity
    if (identity === undefined) return
    try {
      // The gateway may keep its database in the same folder, which changes all the time.
      this.#watcher = watch(this.#folder, { persistent: false }, (_, name) => {
        if (name === null || names.has(name)) this.#onChange()
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
  try {
    const { ino, birthtimeMs } = statSync(folder)
    return `${ino} ${birthtimeMs}`
  } catch {
    return undefined
  }
}
