/** The same object but for some properties: what is hidden on it, or comes from its class, is there too. */
export function copyWith<T extends object>(original: T, changes: Readonly<Record<string, unknown>>): T {
  const kept = Object.getOwnPropertyDescriptors(original)
  for (const key of Object.keys(changes)) Reflect.deleteProperty(kept, key)
  return Object.assign(Object.create(Object.getPrototypeOf(original), kept), changes)
}
