import type { Clock, Ticker } from '../../engine/core/time/clock.ts'
import { FolderWatcher, type WatchableFolder } from './folder-changes.ts'

/** A folder with files that are loaded again when they change. */
export interface ReloadableFolder extends WatchableFolder {
  /** A text that changes when reading the folder again may give another result. */
  fingerprint(): string
  /** Reads the folder again. Unless `final`, returns false if a file may still be being written. */
  reload(final: boolean): boolean
}

const POLL_MS = 1_000
const TICK_MS = 25
/** A file that has not changed for this long is complete, whatever it contains. */
const FINAL_MS = 1_000

/** Decides when to reload a folder: soon after a notification, and at the latest with the next poll. */
export class FolderReloader {
  readonly #folder: ReloadableFolder
  readonly #clock: Clock
  readonly #watcher: FolderWatcher
  readonly #poll: Ticker
  #settling: Ticker | undefined
  #fingerprint: string
  #closed = false

  constructor(folder: ReloadableFolder, clock: Clock, fingerprint: string) {
    this.#folder = folder
    this.#clock = clock
    this.#fingerprint = fingerprint
    this.#watcher = new FolderWatcher(folder, () => this.#settle())
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
