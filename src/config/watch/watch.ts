import { type Clock, systemClock, type Ticker } from '../../engine/core/clock.ts'
import type { HookPlace } from '../find.ts'
import { refusal } from '../problem.ts'
import { FolderWatch } from './folder-watch.ts'
import { type FileStatus, type PlaceParts, PlaceState } from './place-state.ts'

export interface WatchOptions extends PlaceParts {
  readonly places: readonly HookPlace[]
  readonly clock?: Clock
}

export interface Watching {
  status(): FileStatus[]
  close(): void
}

const POLL_MS = 1_000
const TICK_MS = 25
/** After so much quiet nobody is writing any more, and what the file says is meant. */
const SURE_MS = 1_000

/**
 * Loads the hook files and keeps following them. What cannot be used at the start is an error that lists every
 * problem; later it only means that the hooks stay as they were.
 */
export function watchHookFiles(options: WatchOptions): Watching {
  const { places, clock = systemClock } = options
  const states = places.map((place) => new PlaceState(place, options))
  // Taken before the first look, so that a change during it is seen.
  const prints = states.map((state) => state.print())
  const [first, ...rest] = states.flatMap((state) => state.begin())
  if (first !== undefined) {
    for (const { place } of states) options.apply(place.folder, [], { hooks: [] })
    throw refusal([first, ...rest])
  }
  const followers = states.map((state, index) => new Follower(state, clock, prints[index] ?? ''))
  return {
    status: () => states.map(({ status }) => status),
    close: () => {
      for (const follower of followers) follower.close()
    },
  }
}

/** Decides when to look again: soon after a hint, and every second whatever the hints say. */
class Follower {
  readonly #state: PlaceState
  readonly #clock: Clock
  readonly #hints: FolderWatch
  readonly #poll: Ticker
  #settling: Ticker | undefined
  #seen: string
  #closed = false

  constructor(state: PlaceState, clock: Clock, seen: string) {
    this.#state = state
    this.#clock = clock
    this.#seen = seen
    this.#hints = new FolderWatch(state.place.folder, () => this.#settle())
    this.#poll = this.#every(POLL_MS, () => {
      this.#hints.renew()
      if (this.#state.print() !== this.#seen) this.#settle()
    })
  }

  /** Half of a file is often no file, so it is looked at only once it is left alone. */
  #settle(): void {
    if (this.#settling !== undefined || this.#closed) return
    let last = this.#state.print()
    let quiet = 0
    this.#settling = this.#every(TICK_MS, () => {
      const now = this.#state.print()
      quiet = now === last ? quiet + TICK_MS : 0
      last = now
      const sure = quiet >= SURE_MS
      // A look that is not sure is tried once; what it could not use may still be being written.
      if (!(sure || quiet === TICK_MS) || !this.#state.look(sure)) return
      this.#seen = now
      this.#rest()
    })
  }

  #rest(): void {
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
    this.#hints.close()
    this.#poll.stop()
    this.#rest()
  }
}
