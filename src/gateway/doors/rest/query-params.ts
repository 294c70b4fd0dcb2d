import type { Schema } from '../../../engine/core/schema/schema.ts'
import type { Method } from '../../../methods/method.ts'

/** Converts path and query texts to the types that the parameters of a method expect. */
export type ReadQuery = (texts: Readonly<Record<string, readonly string[]>>) => Record<string, unknown>

/** A text that cannot be converted stays text, and the schema of the method reports the error. */
export function queryParams({ params: { fields } }: Pick<Method, 'params'>): ReadQuery {
  return (texts) =>
    Object.fromEntries(Object.entries(texts).map(([name, all]) => [name, readAll(all, fields[name])]))
}

function readAll(all: readonly string[], field: Schema | undefined): unknown {
  if (field?.kind === 'list')
    return all.flatMap((text) => text.split(',')).map((text) => read(text, field.item))
  // Two values for one parameter stay a list, which the schema rejects.
  return all.length === 1 ? read(all[0] ?? '', field) : all
}

function read(text: string, field: Schema | undefined): unknown {
  if (field?.kind === 'nullable') return read(text, field.value)
  if (field?.kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (field?.kind === 'number' || field?.kind === 'integer')
    return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text
  return text
}
