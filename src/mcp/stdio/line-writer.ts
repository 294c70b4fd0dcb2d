import type { Writable } from 'node:stream'

const NEWLINE = Buffer.from('\n')
/** From here on one more write is cheaper than a copy. */
const LARGE = 65_536

/** Writes lines, and holds their source back while the other side does not read. */
export class LineWriter {
  readonly #to: Writable
  #held = new Set<() => void>()
  #isWaiting = false

  constructor(to: Writable) {
    this.#to = to
  }

  /** False when there is more than the other side has read: `onReady` is called when there is room again. */
  write(line: Buffer | string, onReady?: () => void): boolean {
    if (!this.#to.writable) return true
    const bytes = typeof line === 'string' ? Buffer.from(line) : line
    let hasRoom: boolean
    if (bytes.length < LARGE) hasRoom = this.#to.write(Buffer.concat([bytes, NEWLINE]))
    else {
      this.#to.write(bytes)
      hasRoom = this.#to.write(NEWLINE)
    }
    if (hasRoom || onReady === undefined) return hasRoom
    this.#held.add(onReady)
    this.#wait()
    return false
  }

  #wait(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    const release = () => {
      this.#isWaiting = false
      const held = this.#held
      this.#held = new Set()
      for (const ready of held) ready()
    }
    this.#to.once('drain', release)
    // Whoever waits for a side that is gone waits for nothing.
    this.#to.once('close', release)
  }
}
