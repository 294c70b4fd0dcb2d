/** A sealed text inside a config, and the JSON pointer to it. */
export interface ConfigText {
  readonly pointer: string
  readonly text: string
}

export function* textsOf(value: unknown, pointer = ''): Generator<ConfigText> {
  if (typeof value === 'string') yield { pointer, text: value }
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) yield* textsOf(inner, `${pointer}/${escaped(key)}`)
}

/** The same value with another text at one place. */
export function withText(value: unknown, pointer: string, text: string, at = ''): unknown {
  if (at === pointer) return text
  if (typeof value !== 'object' || value === null) return value
  const inner = (key: string, item: unknown) => withText(item, pointer, text, `${at}/${escaped(key)}`)
  if (Array.isArray(value)) return value.map((item, index) => inner(String(index), item))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(key, item)]))
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
