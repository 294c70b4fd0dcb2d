import { HookError } from '../errors/error.ts'

const MAX_DEPTH = 256

// Objects that were frozen already and have been walked: deeply frozen, which `Object.isFrozen` does not tell.
let frozen = new WeakSet<object>()

/**
 * Freezes plain data deeply, in place. Class instances, buffers and functions belong to the host and stay as they are. A
 * value that was frozen before costs one look-up.
 */
export function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null || frozen.has(value)) return
  try {
    freezeAt(value, 0)
  } catch (error) {
    // The set may contain objects whose contents were not walked.
    frozen = new WeakSet()
    throw error
  }
}

function freezeAt(value: object, depth: number): void {
  if (depth > MAX_DEPTH)
    throw new HookError('input.too_deep', `the payload is nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) {
    if (!enter(value)) return
    for (const item of value) if (typeof item === 'object' && item !== null) freezeAt(item, depth + 1)
    return
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return
  if (!enter(value)) return
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key]
    if (typeof item === 'object' && item !== null) freezeAt(item, depth + 1)
  }
}

/** Returns whether to walk the contents. A frozen object is remembered before the walk, so that cycles end. */
function enter(value: object): boolean {
  if (!Object.isFrozen(value)) {
    Object.freeze(value)
    return true
  }
  if (frozen.has(value)) return false
  frozen.add(value)
  return true
}
