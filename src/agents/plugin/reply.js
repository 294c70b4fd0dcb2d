const isText = (value) => typeof value === 'string'
const hasWords = (value) => isText(value) && value.trim() !== ''
const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a gateway may answer. `{}` is no objection. */
const parts = {
  block: hasWords,
  ask: hasWords,
  args: isRecord,
  prompt: isText,
  output: isRecord,
  context: hasWords,
}

/** Reads an answer of which the host can carry out the named parts; any other could be a block that nobody applies. */
export function reader(...allowed) {
  return (reply) => {
    const isClear =
      isRecord(reply) &&
      Object.entries(reply).every(([key, value]) => allowed.includes(key) && parts[key](value))
    if (!isClear) throw new Error('the gateway’s answer cannot be carried out here')
    return reply
  }
}
