import type { Clock, Ticker } from '../core/clock.ts'

const TICK_MS = 25
const IDLE_TICKS = 40

/** Something with a deadline. */
export interface WheelNode {
  /** The tick at which it expires. */
  due: number
  /** The tick at which its deadline was set. */
  armedAt: number
  /** Where the wheel keeps it; below zero while it has no deadline. */
  place: number
  expire(): void
}

export function ticksFor(ms: number): number {
  return Math.ceil(ms / TICK_MS)
}

/**
 * One timer for all deadlines: a timer per hook costs more than the hook. Every tick looks at what is waiting, which
 * is little, so that setting and clearing a deadline is one store each, which is often. Deadlines are rounded up to
 * the next tick of 25 ms: nothing fires early.
 */
export class Wheel {
  /** The number of the last tick; deadlines are counted from here. */
  tick = 0
  private readonly clock: Clock
  private readonly nodes: (WheelNode | null)[] = []
  private readonly free: number[] = []
  private idle = 0
  private base = 0
  private ticker: Ticker | undefined
  private held = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Sets or moves a deadline. */
  arm(node: WheelNode, due: number): void {
    node.due = due
    node.armedAt = this.tick
    if (node.place >= 0) return
    node.place = this.free.pop() ?? this.nodes.length
    this.nodes[node.place] = node
    if (!this.held) this.hold()
  }

  disarm(node: WheelNode): void {
    if (node.place < 0) return
    this.nodes[node.place] = null
    this.free.push(node.place)
    node.place = -1
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
    // Taken out before anything expires: what expires may arm and disarm others.
    const expired: WheelNode[] = []
    for (const node of this.nodes) {
      if (node === null) continue
      if (missed > 0 && node.armedAt === last) {
        node.due += missed
        node.armedAt = now
      }
      if (node.due <= now) expired.push(node)
    }
    for (const node of expired) {
      if (node.place < 0 || node.due > now) continue
      this.disarm(node)
      node.expire()
    }
    this.rest()
  }

  private rest(): void {
    if (this.free.length < this.nodes.length) {
      this.idle = 0
      return
    }
    this.nodes.length = 0
    this.free.length = 0
    if (this.held) {
      this.held = false
      this.ticker?.hold(false)
    }
    if (++this.idle < IDLE_TICKS) return
    this.ticker?.stop()
    this.ticker = undefined
  }
}
