import { parseExactJson } from '../../gateway/exact-json.ts'

/** An object of which only a part is known: a definition, or what a person is still writing. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is an object; otherwise an empty one. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}

/** The value if it is a text; otherwise an empty one. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The list if all entries are texts. */
export function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? value : undefined
}

/** The entries of a list. One value stands for a list of one. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

/** The object with the field set, or without it. The order of fields stays. */
export function withField(value: Fields, name: string, given: unknown): Fields {
  if (given !== undefined) return { ...value, [name]: given }
  const { [name]: _, ...rest } = value
  return rest
}

/** The object; undefined if it has no field. */
export function unlessEmpty<Value extends object>(value: Value): Value | undefined {
  return Object.keys(value).length === 0 ? undefined : value
}

/** An update keeps the fields that it does not name, so those that the draft no longer has become null. */
export function updateTo(draft: Fields, stored: Fields): Fields {
  const removed = Object.keys(stored).filter((name) => draft[name] === undefined)
  return { ...draft, ...Object.fromEntries(removed.map((name) => [name, null])) }
}

/** A text read as JSON, or why it cannot be read yet. */
export type ReadText<Value> =
  | { readonly value: Value; readonly problem?: never }
  | { readonly value?: never; readonly problem: string }

/** Reads JSON that a person is still writing. */
export function readJson(text: string): ReadText<unknown> {
  try {
    return { value: parseExactJson(text) }
  } catch (error) {
    return { problem: `not JSON yet: ${error instanceof Error ? error.message : String(error)}` }
  }
}

/** Reads an object that a person is still writing. */
export function readFields(text: string): ReadText<Fields> {
  const { value, problem } = readJson(text)
  if (problem !== undefined) return { problem }
  return isFields(value) ? { value } : { problem: 'must be an object: { … }' }
}
