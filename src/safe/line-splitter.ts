/** Splits a stream of bytes into lines. Does not copy a chunk that is exactly one line, as nearly all are. */
export class LineSplitter {
  readonly #maxBytes: () => number
  #kept: Buffer[] = []
  #length = 0

  /** The limit may change from one line to the next. */
  constructor(maxBytes: number | (() => number)) {
    this.#maxBytes = typeof maxBytes === 'number' ? () => maxBytes : maxBytes
  }

  /** Calls `take` for every complete line. Returns false if a line is too long. */
  push(chunk: Buffer, take: (line: Buffer) => void): boolean {
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const length = this.#length + end - from
      if (length > this.#maxBytes()) return false
      const part = chunk.subarray(from, end)
      from = end + 1
      if (this.#length === 0) take(part)
      else take(this.#join(part, length))
    }
    if (from === chunk.length) return true
    this.#kept.push(from === 0 ? chunk : chunk.subarray(from))
    this.#length += chunk.length - from
    return this.#length <= this.#maxBytes()
  }

  #join(last: Buffer, length: number): Buffer {
    this.#kept.push(last)
    const line = Buffer.concat(this.#kept, length)
    this.#kept = []
    this.#length = 0
    return line
  }
}

const NEWLINE = 10
