import { isRecord } from '../engine/core/check.ts'

/**
 * A copy for hooks. An event is frozen, and what belongs to the program must stay as it was. What cannot be copied as it is
 * becomes what JSON makes of it.
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
 * A change as it came back, with everything that was not changed as it was before: on its way to a gateway a date became a
 * text and bytes became a list.
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

/** What a tool is called with, as `tool_input` wants it. */
export function inputRecord(input: unknown): Readonly<Record<string, unknown>> {
  return isRecord(input) ? input : { input }
}

/** And back. */
export function toolInputFrom(input: unknown, original: unknown): unknown {
  const changed = cloneForHooks(input)
  return isRecord(original) || !isRecord(changed) ? changed : changed.input
}

/** The same object but for some properties: what is hidden on it, or comes from its class, is there too. */
export function copyWith<T extends object>(original: T, changes: Readonly<Record<string, unknown>>): T {
  const kept = Object.getOwnPropertyDescriptors(original)
  for (const key of Object.keys(changes)) Reflect.deleteProperty(kept, key)
  return Object.assign(Object.create(Object.getPrototypeOf(original), kept), changes)
}
