import { randomUUID } from 'node:crypto'

let last = -1
let count = 0

/**
 * A UUID of version 7: it begins with its time, so that an index over many grows at its end. Those of one millisecond are
 * counted, so that what one process saw one after the other stays in that order.
 */
export function timeUuid(time: number): string {
  const ms = Math.max(0, Math.floor(time))
  count = ms === last ? (count + 1) & 0xfff : 0
  last = ms
  const hex = ms.toString(16).padStart(12, '0').slice(-12)
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${count.toString(16).padStart(3, '0')}${randomUUID().slice(18)}`
}
