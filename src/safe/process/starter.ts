import { Child } from './child.ts'
import { Helper } from './helper.ts'
import type { Order, Started } from './spec.ts'

/** Who forks: we ourselves, the helper, or whoever is better now. */
export type StartPath = 'auto' | 'direct' | 'helper'

/** A program that starts a command or two and leaves gains nothing from a helper. */
const DIRECT_STARTS = 3
/** From here on our own fork costs more than the way to the helper. */
const LARGE_RSS = 96 * 1_048_576
/** A helper that never comes up, say in a bundle without its file, is not tried for ever. */
const MAX_FAILED_HELPERS = 2

export class Starter {
  readonly #path: StartPath
  #helper: Helper | undefined
  #failedHelpers = 0
  #starts = 0

  constructor(path: StartPath) {
    this.#path = path
  }

  /** The process id of the helper, once there is one. */
  get helperPid(): number | undefined {
    return this.#helper?.pid
  }

  start(order: Order): Started {
    if (this.#path === 'direct') return new Child(order)
    const helper = this.#usable()
    if (helper !== undefined) return helper.start(order)
    this.#starts++
    if (this.#starts >= DIRECT_STARTS || process.memoryUsage.rss() > LARGE_RSS) this.warm()
    return new Child(order)
  }

  /** Starts the helper ahead of need. Best called early: this one fork still costs what our memory costs. */
  warm(): void {
    if (this.#helper?.dead) {
      if (!this.#helper.everReady) this.#failedHelpers++
      this.#helper = undefined
    }
    if (this.#path === 'direct' || this.#failedHelpers >= MAX_FAILED_HELPERS) return
    this.#helper ??= new Helper()
  }

  close(): void {
    this.#helper?.close()
    this.#helper = undefined
  }

  #usable(): Helper | undefined {
    if (this.#path === 'helper') this.warm()
    const helper = this.#helper
    if (helper === undefined || helper.dead) return undefined
    return helper.ready || this.#path === 'helper' ? helper : undefined
  }
}
