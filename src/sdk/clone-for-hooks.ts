import { isRecord } from '../engine/core/schema/check.ts'

/**
 * Copies a value for an event. Dispatch freezes events, and the program's own objects must not be frozen. A value that
 * cannot be cloned goes through JSON.
 */
export function cloneForHooks<T>(value: T): T {
  try {
    return structuredClone(value)
  } catch {
    const text: string | undefined = JSON.stringify(value)
    return JSON.parse(text ?? 'null')
  }
}

/**
 * Returns a changed value with the original objects wherever nothing changed. On the way to a gateway, dates become
 * texts and bytes become lists.
 */
export function restoreUnchanged(changed: unknown, original: unknown): unknown {
  if (sameText(changed, original)) return original
  if (Array.isArray(changed)) {
    const before = Array.isArray(original) ? original : []
    return changed.map((item, index) => restoreUnchanged(item, before[index]))
  }
  if (!isRecord(changed)) return changed
  const before = isRecord(original) ? original : {}
  return Object.fromEntries(
    Object.entries(changed).map(([key, value]) => [
      key,
      restoreUnchanged(value, Object.hasOwn(before, key) ? before[key] : undefined),
    ]),
  )
}

function sameText(a: unknown, b: unknown): boolean {
  if (a === b) return true
  try {
    return a !== undefined && JSON.stringify(a) === JSON.stringify(b)
  } catch {
    return false
  }
}

/** The input of a tool as `tool_input`, which is always an object. */
export function inputRecord(input: unknown): Readonly<Record<string, unknown>> {
  return isRecord(input) ? input : { input }
}

/** Reverses `inputRecord`. */
export function toolInputFrom(input: unknown, original: unknown): unknown {
  const changed = cloneForHooks(input)
  return isRecord(original) || !isRecord(changed) ? changed : changed.input
}

/** Copies an object with other properties. Keeps hidden properties and the prototype. */
export function copyWith<T extends object>(original: T, changes: Readonly<Record<string, unknown>>): T {
  const kept = Object.getOwnPropertyDescriptors(original)
  for (const key of Object.keys(changes)) Reflect.deleteProperty(kept, key)
  return Object.assign(Object.create(Object.getPrototypeOf(original), kept), changes)
}
