import { type Clock, systemClock, type Ticker } from '../../engine/core/clock.ts'
import { problemsError } from '../file-problem.ts'
import type { HookFolder } from '../hook-folders.ts'
import { FolderWatcher } from './folder-changes.ts'
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

const POLL_MS = 1_000
const TICK_MS = 25
/** A file that has not changed for this long is complete, whatever it contains. */
const FINAL_MS = 1_000

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
    for (const { folder } of watched) options.apply(folder.folder, [], { hooks: [] })
    throw problemsError([first, ...rest])
  }
  const reloaders = watched.map((folder, index) => new Reloader(folder, clock, fingerprints[index] ?? ''))
  return {
    status: () => watched.map(({ status }) => status),
    close: () => {
      for (const reloader of reloaders) reloader.close()
    },
  }
}

/** Decides when to reload a folder: soon after a notification, and at the latest with the next poll. */
class Reloader {
  readonly #folder: WatchedFolder
  readonly #clock: Clock
  readonly #watcher: FolderWatcher
  readonly #poll: Ticker
  #settling: Ticker | undefined
  #fingerprint: string
  #closed = false

  constructor(folder: WatchedFolder, clock: Clock, fingerprint: string) {
    this.#folder = folder
    this.#clock = clock
    this.#fingerprint = fingerprint
    this.#watcher = new FolderWatcher(folder.folder.folder, () => this.#settle())
    this.#poll = this.#every(POLL_MS, () => {
      this.#watcher.renew()
      if (this.#folder.fingerprint() !== this.#fingerprint) this.#settle()
    })
  }

  /** Reloads once the file stops changing: a file that is being written is often invalid. */
  #settle(): void {
    if (this.#settling !== undefined || this.#closed) return
    let last = this.#folder.fingerprint()
    let unchangedMs = 0
    this.#settling = this.#every(TICK_MS, () => {
      const now = this.#folder.fingerprint()
      unchangedMs = now === last ? unchangedMs + TICK_MS : 0
      last = now
      const final = unchangedMs >= FINAL_MS
      // Tries early once. If that is not possible, the file may still be being written.
      if (!(final || unchangedMs === TICK_MS) || !this.#folder.reload(final)) return
      this.#fingerprint = now
      this.#stopSettling()
    })
  }

  #stopSettling(): void {
    this.#settling?.stop()
    this.#settling = undefined
  }

  #every(ms: number, tick: () => void): Ticker {
    const ticker = this.#clock.every(ms, tick)
    ticker.hold(false)
    return ticker
  }

  close(): void {
    this.#closed = true
    this.#watcher.close()
    this.#poll.stop()
    this.#stopSettling()
  }
}
