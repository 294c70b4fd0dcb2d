const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** PostgreSQL fails on an id that is none; nothing has it, so nobody needs to ask. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
