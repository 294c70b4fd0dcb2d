import type { Clock, Ticker } from '../core/time/clock.ts'

const TICK_MS = 25
const IDLE_TICKS = 40
const NEVER = Number.MAX_SAFE_INTEGER

/** A duration in ticks of the timer, rounded up. */
export function ticksFor(ms: number): number {
  return Math.ceil(ms / TICK_MS)
}

/** Something that waits for a promise under a deadline. */
export interface DeadlineWaiter {
  onSettled(value: unknown): void
  onRejected(thrown: unknown): void
  onExpired(): void
  /** The event loop was blocked for so many ticks; they do not count against the waiter. */
  onStalled(ticks: number): void
}

/**
 * A deadline and the two functions that the awaited promise calls. Slots are reused, so that waiting allocates nothing
 * but promises. After a missed deadline the slot stays with the promise that may still settle and is not reused.
 */
export class DeadlineSlot {
  declare waiter: DeadlineWaiter | null
  /** The tick at which the waiter expires. */
  declare due: number
  /** The tick at which the deadline was set. */
  declare armedAt: number
  declare readonly onValue: (value: unknown) => void
  declare readonly onError: (thrown: unknown) => void
  /** Called when the promise settles after the deadline, with whether it has an answer. */
  declare onLate: ((hasAnswer: boolean) => void) | null

  constructor() {
    this.waiter = null
    this.due = NEVER
    this.armedAt = 0
    this.onLate = null
    this.onValue = (value) => {
      if (this.waiter !== null) this.waiter.onSettled(value)
      else this.onLate?.(value !== undefined)
    }
    this.onError = (thrown) => {
      if (this.waiter !== null) this.waiter.onRejected(thrown)
      else this.onLate?.(false)
    }
  }
}

/**
 * One timer for all deadlines: a timer per hook costs more than the hook. Each tick looks at all slots, of which there
 * are as many as ever waited at once; setting a deadline, which happens often, is two assignments. Deadlines are
 * rounded up to the next tick of 25 ms, so none fires early.
 */
export class DeadlineTimer {
  /** The number of the last tick; deadlines are counted from here. */
  tick = 0
  private readonly clock: Clock
  // A set, because in a storm of missed deadlines each slot is removed on its own.
  private readonly slots = new Set<DeadlineSlot>()
  private readonly free: DeadlineSlot[] = []
  private idle = 0
  private base = 0
  private ticker: Ticker | undefined
  private held = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  acquire(waiter: DeadlineWaiter): DeadlineSlot {
    const slot = this.free.pop() ?? this.add()
    slot.waiter = waiter
    if (!this.held) this.hold()
    return slot
  }

  arm(slot: DeadlineSlot, due: number): void {
    slot.due = due
    slot.armedAt = this.tick
  }

  /** Takes back a slot that no promise will call any more. */
  release(slot: DeadlineSlot): void {
    slot.waiter = null
    slot.due = NEVER
    this.free.push(slot)
  }

  /** Leaves a slot to the promise that may still call it. */
  detach(slot: DeadlineSlot, onLate: DeadlineSlot['onLate']): void {
    slot.waiter = null
    slot.due = NEVER
    slot.onLate = onLate
    this.slots.delete(slot)
  }

  private add(): DeadlineSlot {
    const slot = new DeadlineSlot()
    this.slots.add(slot)
    return slot
  }

  /** While something waits, the timer keeps the process alive; a tick that finds nothing lets it end. */
  private hold(): void {
    this.held = true
    this.idle = 0
    if (this.ticker === undefined) {
      this.base = this.clock.elapsed() - this.tick * TICK_MS
      this.ticker = this.clock.every(TICK_MS, () => this.onTick())
    } else this.ticker.hold(true)
  }

  private onTick(): void {
    const last = this.tick
    const now = Math.floor((this.clock.elapsed() - this.base) / TICK_MS)
    if (now <= last) return
    this.tick = now
    // A busy event loop delays ticks. A deadline set since the last tick was counted from a stale one.
    const missed = now - last - 1
    // Collected before any expires: a waiter that expires may arm and release others.
    const due: DeadlineSlot[] = []
    for (const slot of this.slots) {
      if (slot.waiter === null) continue
      if (missed > 0 && slot.armedAt === last && slot.due !== NEVER) {
        slot.due += missed
        slot.armedAt = now
        slot.waiter.onStalled(missed)
      }
      if (slot.due <= now) due.push(slot)
    }
    for (const slot of due) if (slot.due <= now) slot.waiter?.onExpired()
    this.stopWhenIdle()
  }

  private stopWhenIdle(): void {
    if (this.free.length < this.slots.size) {
      this.idle = 0
      return
    }
    if (this.held) {
      this.held = false
      this.ticker?.hold(false)
    }
    if (++this.idle < IDLE_TICKS) return
    this.slots.clear()
    this.free.length = 0
    this.ticker?.stop()
    this.ticker = undefined
  }
}
