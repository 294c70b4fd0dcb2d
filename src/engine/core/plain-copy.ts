import { HookError } from './error.ts'

const MAX_DEPTH = 256

/**
 * A copy of plain data in which every property is a value: what a getter answers is fixed once, so that nobody is
 * shown another face later. Class instances, buffers and functions are taken as they are.
 */
export function plainCopy(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) throw new HookError('input.too_deep', `nested deeper than ${MAX_DEPTH} levels`)
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
