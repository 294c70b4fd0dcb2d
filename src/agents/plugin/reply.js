const isText = (value) => typeof value === 'string'
const hasWords = (value) => isText(value) && value.trim() !== ''
const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields of a reply. `{}` means no objection. */
const parts = {
  block: hasWords,
  ask: hasWords,
  args: isRecord,
  prompt: isText,
  output: isRecord,
  context: hasWords,
}

/**
 * Returns a reader that accepts only the fields that the host can apply. Any other field could be a block, so it
 * throws.
 */
export function replyReader(...allowed) {
  return (reply) => {
    const isClear =
      isRecord(reply) &&
      Object.entries(reply).every(([key, value]) => allowed.includes(key) && parts[key](value))
    if (!isClear) throw new Error('the gateway’s answer cannot be carried out here')
    return reply
  }
}

/** Replaces the entries of an object. The host keeps a reference to it, so it must stay the same object. */
export function replaceEntries(target, entries) {
  for (const key of Object.keys(target)) delete target[key]
  setEntries(target, entries)
}

/** Defines instead of assigning, so that `__proto__` is an ordinary key. */
export function setEntries(target, entries) {
  for (const [key, value] of Object.entries(entries)) {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  }
}
