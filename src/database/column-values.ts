const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** PostgreSQL rejects a statement with a malformed id. No row has such an id, so callers skip the statement. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
