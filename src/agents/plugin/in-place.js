/** Gives an object other entries. The host holds on to the object itself, so it must stay the same one. */
export function replaceEntries(target, entries) {
  for (const key of Object.keys(target)) delete target[key]
  setEntries(target, entries)
}

/** Defined rather than assigned: a key called `__proto__` is a key like any other. */
export function setEntries(target, entries) {
  for (const [key, value] of Object.entries(entries)) {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  }
}
