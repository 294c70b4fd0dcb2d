/** The language between us and the helper: a length, the length of a JSON head, the head, raw bytes. */
const PREFIX_BYTES = 8

export type Head = Readonly<Record<string, unknown>>
export type OnFrame = (head: Head, body: Buffer) => void

export function frame(head: Head, ...body: readonly Buffer[]): Buffer {
  const json = Buffer.from(JSON.stringify(head))
  const prefix = Buffer.alloc(PREFIX_BYTES)
  const length = json.length + body.reduce((sum, part) => sum + part.length, 0)
  prefix.writeUInt32LE(length, 0)
  prefix.writeUInt32LE(json.length, 4)
  return Buffer.concat([prefix, json, ...body])
}

/** Puts frames together again from whatever pieces a pipe delivers. */
export function frameReader(onFrame: OnFrame): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let bytes = 0
  let wanted = PREFIX_BYTES
  return (chunk) => {
    chunks.push(chunk)
    bytes += chunk.length
    // Joined only when a whole frame is there, or a large one would be copied once per piece.
    if (bytes < wanted) return
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    while (rest.length >= PREFIX_BYTES) {
      wanted = PREFIX_BYTES + rest.readUInt32LE(0)
      if (rest.length < wanted) break
      const body = PREFIX_BYTES + rest.readUInt32LE(4)
      const head: Head = JSON.parse(rest.toString('utf8', PREFIX_BYTES, body))
      onFrame(head, rest.subarray(body, wanted))
      rest = rest.subarray(wanted)
      wanted = PREFIX_BYTES
    }
    chunks = rest.length > 0 ? [rest] : []
    bytes = rest.length
  }
}
