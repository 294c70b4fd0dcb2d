import { randomUUID } from 'node:crypto'

/** A UUID of version 7: it begins with its time, so that an index over many grows at its end. */
export function timeUuid(time: number): string {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0').slice(-12)
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`
}
