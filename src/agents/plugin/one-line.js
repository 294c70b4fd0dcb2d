// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get through
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

/** Fit for a terminal and for a model: no control characters, not too long, never empty. */
export function oneLine(text) {
  const line = String(text ?? '').replace(control, ' ')
  return line.trim().slice(0, 2_000) || 'no answer'
}
