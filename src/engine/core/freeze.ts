import { HookError } from './error.ts'

const MAX_DEPTH = 256

// Objects found frozen and then walked once. Membership means "frozen all the way down", which `isFrozen` does not.
let frozen = new WeakSet<object>()

/**
 * Freezes plain data all the way down, in place. Class instances, buffers and functions are left alone: they belong
 * to the host. A value that was frozen before costs one look-up.
 */
export function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null || frozen.has(value)) return
  try {
    freezeAt(value, 0)
  } catch (error) {
    // A walk that was cut short has remembered objects it did not finish.
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

/** A fresh object is frozen; one found frozen is remembered before it is walked, so cycles end. */
function enter(value: object): boolean {
  if (!Object.isFrozen(value)) {
    Object.freeze(value)
    return true
  }
  if (frozen.has(value)) return false
  frozen.add(value)
  return true
}
