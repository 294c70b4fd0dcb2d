/** The messages between the helper and its parent: total length, length of the JSON head, the head, raw bytes. */
const PREFIX_BYTES = 8

export type FrameHead = Readonly<Record<string, unknown>>
export type FrameListener = (head: FrameHead, body: Buffer) => void

export function encodeFrame(head: FrameHead, ...body: readonly Buffer[]): Buffer {
  const json = Buffer.from(JSON.stringify(head))
  const prefix = Buffer.alloc(PREFIX_BYTES)
  const length = json.length + body.reduce((sum, part) => sum + part.length, 0)
  prefix.writeUInt32LE(length, 0)
  prefix.writeUInt32LE(json.length, 4)
  return Buffer.concat([prefix, json, ...body])
}

/** Assembles frames from the chunks of a pipe. */
export function createFrameReader(onFrame: FrameListener): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let bytes = 0
  let wanted = PREFIX_BYTES
  return (chunk) => {
    chunks.push(chunk)
    bytes += chunk.length
    // Concatenate only once a frame is complete, or a large one would be copied once per chunk.
    if (bytes < wanted) return
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    while (rest.length >= PREFIX_BYTES) {
      wanted = PREFIX_BYTES + rest.readUInt32LE(0)
      if (rest.length < wanted) break
      const body = PREFIX_BYTES + rest.readUInt32LE(4)
      const head: FrameHead = JSON.parse(rest.toString('utf8', PREFIX_BYTES, body))
      onFrame(head, rest.subarray(body, wanted))
      rest = rest.subarray(wanted)
      wanted = PREFIX_BYTES
    }
    chunks = rest.length > 0 ? [rest] : []
    bytes = rest.length
  }
}
