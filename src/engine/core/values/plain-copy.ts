import { HookError } from '../errors/error.ts'

const MAX_DEPTH = 256

/** Known to Node 24, not yet to the compiler's library. */
const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean }

/**
 * Copies plain data. Getters become values, so that later readers cannot see a different one. Class instances, buffers
 * and functions are not copied.
 */
export function plainCopy(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) throw new HookError('input.too_deep', `nested deeper than ${MAX_DEPTH} levels`)
  // A raw JSON number keeps its digits in an internal slot, which a copy would lose.
  if (isRawJSON(value)) return value
  if (Array.isArray(value)) return Array.from(value, (item) => plainCopy(item, depth + 1))
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(copy, key, {
      value: plainCopy(item, depth + 1),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return copy
}
