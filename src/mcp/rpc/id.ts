/**
 * Which request an id names. Clients differ in whether `"5"` is 5, and an integer beyond 2⁵³ comes back rounded, so
 * ids that some client takes for the same are the same here: an answer must not pass for one that nobody waits for.
 * Nothing for a value that is no id.
 */
export function requestKey(id: unknown): string | undefined {
  if (typeof id === 'string') {
    const number = Number(id)
    return Number.isNaN(number) ? `text ${id}` : `number ${number}`
  }
  if (typeof id === 'number') return `number ${id}`
  return isRawJSON(id) ? `number ${Number(JSON.stringify(id))}` : undefined
}

/** Known to Node 24, not yet to the compiler's library. */
const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean }
