const KEPT_BYTES = 4_096

/** One output stream of a child: everything up to the limit, beyond it only the beginning. */
export class Output {
  readonly #limit: number
  #chunks: Buffer[] = []
  bytes = 0
  overrun = false

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Answers whether there is still room. */
  push(chunk: Buffer): boolean {
    if (this.overrun) return false
    this.bytes += chunk.length
    this.#chunks.push(chunk)
    if (this.bytes <= this.#limit) return true
    this.overrun = true
    this.#chunks = [Buffer.concat(this.#chunks).subarray(0, KEPT_BYTES)]
    return false
  }

  whole(): Buffer {
    return this.#chunks.length === 1 ? (this.#chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks)
  }
}
