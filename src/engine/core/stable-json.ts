/** JSON with sorted keys, so that equal data gives equal text. Cycles and what JSON has no word for become text. */
export function stableJson(value: unknown): string {
  return JSON.stringify(sorted(value, new Set())) ?? 'null'
}

function sorted(value: unknown, above: Set<object>): unknown {
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol')
    return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (above.has(value)) return '[Circular]'
  above.add(value)
  const copy = Array.isArray(value)
    ? value.map((item) => sorted(item, above))
    : Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, item]) => [key, sorted(item, above)]),
      )
  above.delete(value)
  return copy
}
