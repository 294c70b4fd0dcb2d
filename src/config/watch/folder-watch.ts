import { type FSWatcher, statSync, watch } from 'node:fs'
import { basename } from 'node:path'
import { hookFileNames } from '../find.ts'

const names = new Set(hookFileNames('').map((path) => basename(path)))

/** Hints that something in a folder changed. It may miss some, or the folder may not exist: a poll is the truth. */
export class FolderWatch {
  readonly #folder: string
  readonly #hint: () => void
  #watcher: FSWatcher | undefined
  /** Which folder is watched: an inode alone may be given to the next one. */
  #identity: string | undefined

  constructor(folder: string, hint: () => void) {
    this.#folder = folder
    this.#hint = hint
    this.renew()
  }

  /** A watcher stays with the folder it was opened on, even when another one has taken its name. */
  renew(): void {
    const identity = identityOf(this.#folder)
    if (identity === this.#identity) return
    this.close()
    this.#identity = identity
    if (identity === undefined) return
    try {
      // Where the gateway keeps its database in the same folder, that changes all the time.
      this.#watcher = watch(this.#folder, { persistent: false }, (_, name) => {
        if (name === null || names.has(name)) this.#hint()
      })
      this.#watcher.on('error', () => this.close())
    } catch {
      // The system may have no watches left; then only the poll looks.
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
