import type { Clock, Ticker } from '../core/clock.ts'

const TICK_MS = 25
const IDLE_TICKS = 40
const NEVER = Number.MAX_SAFE_INTEGER

export function ticksFor(ms: number): number {
  return Math.ceil(ms / TICK_MS)
}

/** Something that waits for a promise under a deadline. */
export interface Waiter {
  settled(value: unknown): void
  rejected(thrown: unknown): void
  expired(): void
  /** Ticks that a stalled event loop took are given back. */
  stalled(ticks: number): void
}

/**
 * A place to wait at: a deadline, and the two functions a promise calls. Places are used again, so that waiting
 * allocates nothing but promises. A place whose waiter gave up is left to the promise it still belongs to.
 */
export class Place {
  declare waiter: Waiter | null
  /** The tick at which the waiter expires. */
  declare due: number
  /** The tick at which the deadline was set. */
  declare armedAt: number
  declare readonly onValue: (value: unknown) => void
  declare readonly onError: (thrown: unknown) => void
  /** Told when the promise settles after all. */
  declare late: (() => void) | null

  constructor() {
    this.waiter = null
    this.due = NEVER
    this.armedAt = 0
    this.late = null
    this.onValue = (value) => {
      if (this.waiter !== null) this.waiter.settled(value)
      else this.late?.()
    }
    this.onError = (thrown) => {
      if (this.waiter !== null) this.waiter.rejected(thrown)
      else this.late?.()
    }
  }
}

/**
 * One timer for all deadlines: a timer per hook costs more than the hook. Every tick looks at all places, which are
 * as many as ever waited at once; setting a deadline, which is often, is two assignments. Deadlines are rounded up
 * to the next tick of 25 ms: nothing fires early.
 */
export class Wheel {
  /** The number of the last tick; deadlines are counted from here. */
  tick = 0
  private readonly clock: Clock
  // A set, because in a storm of missed deadlines each place is taken out on its own.
  private readonly places = new Set<Place>()
  private readonly free: Place[] = []
  private idle = 0
  private base = 0
  private ticker: Ticker | undefined
  private held = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  take(waiter: Waiter): Place {
    const place = this.free.pop() ?? this.add()
    place.waiter = waiter
    if (!this.held) this.hold()
    return place
  }

  arm(place: Place, due: number): void {
    place.due = due
    place.armedAt = this.tick
  }

  /** Gives a place back that no promise will call any more. */
  release(place: Place): void {
    place.waiter = null
    place.due = NEVER
    this.free.push(place)
  }

  /** Leaves a place to the promise that may still call it. */
  abandon(place: Place, late: () => void): void {
    place.waiter = null
    place.due = NEVER
    place.late = late
    this.places.delete(place)
  }

  private add(): Place {
    const place = new Place()
    this.places.add(place)
    return place
  }

  /** While something waits, the process stays alive; a tick that finds nothing lets it go. */
  private hold(): void {
    this.held = true
    this.idle = 0
    if (this.ticker === undefined) {
      this.base = this.clock.elapsed() - this.tick * TICK_MS
      this.ticker = this.clock.every(TICK_MS, () => this.turn())
    } else this.ticker.hold(true)
  }

  private turn(): void {
    const last = this.tick
    const now = Math.floor((this.clock.elapsed() - this.base) / TICK_MS)
    if (now <= last) return
    this.tick = now
    // A busy event loop delays ticks. What was armed since the last one counted from a stale tick: give it back.
    const missed = now - last - 1
    // Found before anything expires: what expires may arm and release others.
    const due: Place[] = []
    for (const place of this.places) {
      if (place.waiter === null) continue
      if (missed > 0 && place.armedAt === last && place.due !== NEVER) {
        place.due += missed
        place.armedAt = now
        place.waiter.stalled(missed)
      }
      if (place.due <= now) due.push(place)
    }
    for (const place of due) if (place.due <= now) place.waiter?.expired()
    this.rest()
  }

  private rest(): void {
    if (this.free.length < this.places.size) {
      this.idle = 0
      return
    }
    if (this.held) {
      this.held = false
      this.ticker?.hold(false)
    }
    if (++this.idle < IDLE_TICKS) return
    this.places.clear()
    this.free.length = 0
    this.ticker?.stop()
    this.ticker = undefined
  }
}
