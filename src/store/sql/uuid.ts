import { randomUUID } from 'node:crypto'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** PostgreSQL fails on an id that is none; nothing has it, so nobody needs to ask. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/** A UUID of version 7: it begins with its time, so that an index over many grows at its end. */
export function timeUuid(time: number): string {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0').slice(-12)
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`
}
