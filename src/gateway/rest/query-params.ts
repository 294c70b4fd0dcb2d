import { z } from 'zod'
import type { Method } from '../methods/method.ts'

/** Converts path and query texts to the types that the parameters of a method expect. */
export type ReadQuery = (texts: Readonly<Record<string, readonly string[]>>) => Record<string, unknown>

interface ParamType {
  readonly type: string
  readonly items?: ParamType
}

/** A text that cannot be converted stays text, and the schema of the method reports the error. */
export function queryParams({ params }: Pick<Method, 'params'>): ReadQuery {
  const { properties = {} } = z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' })
  const types = new Map(Object.entries(properties).map(([name, schema]) => [name, paramTypeOf(schema)]))
  return (texts) =>
    Object.fromEntries(Object.entries(texts).map(([name, all]) => [name, readAll(all, types.get(name))]))
}

type JsonSchema = z.core.JSONSchema._JSONSchema

function paramTypeOf(schema: JsonSchema | undefined): ParamType | undefined {
  if (typeof schema !== 'object') return undefined
  if (typeof schema.type === 'string') {
    const items = Array.isArray(schema.items) ? undefined : paramTypeOf(schema.items)
    return items === undefined ? { type: schema.type } : { type: schema.type, items }
  }
  const options = schema.anyOf ?? schema.oneOf ?? []
  return options.map(paramTypeOf).find((type) => type !== undefined && type.type !== 'string')
}

function readAll(all: readonly string[], type: ParamType | undefined): unknown {
  if (type?.type === 'array')
    return all.flatMap((text) => text.split(',')).map((text) => read(text, type.items))
  // Two values for one parameter stay a list, which the schema rejects.
  return all.length === 1 ? read(all[0] ?? '', type) : all
}

function read(text: string, type: ParamType | undefined): unknown {
  if (type?.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type?.type === 'number' || type?.type === 'integer')
    return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text
  return text
}
