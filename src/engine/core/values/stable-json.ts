/** JSON with sorted keys, so that equal data gives equal text. Cycles and values that JSON lacks become strings. */
export function stableJson(value: unknown): string {
  return JSON.stringify(sorted(value, new Set())) ?? 'null'
}

function sorted(value: unknown, above: Set<object>): unknown {
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
    return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (above.has(value)) return '[Circular]'
  above.add(value)
  const items = itemsOf(value)
  const copy =
    items !== undefined
      ? items.map((item) => sorted(item, above))
      : Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, item]) => [key, sorted(item, above)]),
        )
  above.delete(value)
  return copy
}

/** The contents of dates, maps and sets, which have no own keys and would all look empty. */
function itemsOf(value: object): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (value instanceof Date) return ['Date', value.getTime()]
  if (value instanceof Map || value instanceof Set) return [...value]
  return undefined
}
