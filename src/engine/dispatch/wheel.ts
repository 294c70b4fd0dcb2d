import type { Clock, Ticker } from '../core/clock.ts'

const TICK_MS = 25
const SLOTS = 256
const IDLE_TICKS = 40

/** Something with a deadline. The links belong to the wheel: an entry costs no allocation. */
export interface WheelNode {
  wheelNext: WheelNode | null
  wheelPrev: WheelNode | null
  due: number
  armedAt: number
  expire(): void
}

export function ticksFor(ms: number): number {
  return Math.ceil(ms / TICK_MS)
}

/**
 * One timer for all deadlines: a timer per hook costs more than the hook. Deadlines are rounded up to the next
 * tick of 25 ms, so nothing fires early.
 */
export class Wheel {
  /** The number of the last tick; deadlines are counted from here. */
  tick = 0
  readonly #clock: Clock
  readonly #slots: WheelNode[] = Array.from({ length: SLOTS }, sentinel)
  #size = 0
  #idle = 0
  #base = 0
  #ticker: Ticker | undefined
  #held = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Sets or moves the deadline of a node. Moving it later is one assignment; the tick finds it in its old slot. */
  arm(node: WheelNode, due: number): void {
    if (node.wheelNext !== null && due >= node.due) {
      node.due = due
      node.armedAt = this.tick
      return
    }
    if (node.wheelNext === null) {
      this.#size++
      if (!this.#held) this.#hold()
    } else unlink(node)
    node.due = due
    node.armedAt = this.tick
    link(this.#slot(due), node)
  }

  disarm(node: WheelNode): void {
    if (node.wheelNext === null) return
    unlink(node)
    this.#size--
  }

  #slot(due: number): WheelNode {
    const slot = this.#slots[due & (SLOTS - 1)]
    if (slot === undefined) throw new RangeError('a slot outside the wheel')
    return slot
  }

  /** While something waits, the process stays alive; a tick that finds nothing lets it go. */
  #hold(): void {
    this.#held = true
    this.#idle = 0
    if (this.#ticker === undefined) {
      this.#base = this.#clock.elapsed() - this.tick * TICK_MS
      this.#ticker = this.#clock.every(TICK_MS, () => this.#turn())
    } else this.#ticker.hold(true)
  }

  #turn(): void {
    const last = this.tick
    const now = Math.floor((this.#clock.elapsed() - this.#base) / TICK_MS)
    if (now <= last) return
    // A busy event loop delays ticks. What was armed since the last one counted from a stale tick: give it back.
    const missed = now - last - 1
    this.tick = now
    const turns = Math.min(now - last, SLOTS)
    for (let i = 1; i <= turns; i++) this.#sweep(this.#slot(last + i), last, missed)
    this.#rest()
  }

  /** Takes the whole slot out before anything expires: what expires may arm and disarm others. */
  #sweep(slot: WheelNode, last: number, missed: number): void {
    if (slot.wheelNext === slot) return
    const nodes: WheelNode[] = []
    for (let node = slot.wheelNext; node !== null && node !== slot; node = slot.wheelNext) {
      unlink(node)
      nodes.push(node)
    }
    const expired = nodes.filter((node) => {
      if (missed > 0 && node.armedAt === last) {
        node.due += missed
        node.armedAt = this.tick
      }
      if (node.due <= this.tick) return true
      link(this.#slot(node.due), node)
      return false
    })
    this.#size -= expired.length
    for (const node of expired) if (node.wheelNext === null) node.expire()
  }

  #rest(): void {
    if (this.#size > 0) {
      this.#idle = 0
      return
    }
    if (this.#held) {
      this.#held = false
      this.#ticker?.hold(false)
    }
    if (++this.#idle < IDLE_TICKS) return
    this.#ticker?.stop()
    this.#ticker = undefined
  }
}

function sentinel(): WheelNode {
  const node: WheelNode = { wheelNext: null, wheelPrev: null, due: 0, armedAt: 0, expire() {} }
  node.wheelNext = node
  node.wheelPrev = node
  return node
}

function link(slot: WheelNode, node: WheelNode): void {
  const tail = slot.wheelPrev
  node.wheelNext = slot
  node.wheelPrev = tail
  if (tail !== null) tail.wheelNext = node
  slot.wheelPrev = node
}

function unlink(node: WheelNode): void {
  const { wheelNext, wheelPrev } = node
  if (wheelPrev !== null) wheelPrev.wheelNext = wheelNext
  if (wheelNext !== null) wheelNext.wheelPrev = wheelPrev
  node.wheelNext = null
  node.wheelPrev = null
}
