import { z } from 'zod'
import type { Method } from '../methods/method.ts'

/** Turns the texts of an address into what the parameters of a method expect there. */
export type QueryReader = (texts: Readonly<Record<string, readonly string[]>>) => Record<string, unknown>

interface Kind {
  readonly type: string
  readonly items?: Kind
}

/** What a text cannot be turned into stays text, and the schema of the method says what is wrong with it. */
export function queryReader({ params }: Method): QueryReader {
  const { properties = {} } = z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' })
  const kinds = new Map(Object.entries(properties).map(([name, schema]) => [name, kindOf(schema)]))
  return (texts) =>
    Object.fromEntries(Object.entries(texts).map(([name, all]) => [name, readAll(all, kinds.get(name))]))
}

type JsonSchema = z.core.JSONSchema._JSONSchema

function kindOf(schema: JsonSchema | undefined): Kind | undefined {
  if (typeof schema !== 'object') return undefined
  if (typeof schema.type === 'string') {
    const items = Array.isArray(schema.items) ? undefined : kindOf(schema.items)
    return items === undefined ? { type: schema.type } : { type: schema.type, items }
  }
  const options = schema.anyOf ?? schema.oneOf ?? []
  return options.map(kindOf).find((kind) => kind !== undefined && kind.type !== 'string')
}

function readAll(all: readonly string[], kind: Kind | undefined): unknown {
  if (kind?.type === 'array')
    return all.flatMap((text) => text.split(',')).map((text) => read(text, kind.items))
  // One name twice where one value is meant: neither is taken.
  return all.length === 1 ? read(all[0] ?? '', kind) : all
}

function read(text: string, kind: Kind | undefined): unknown {
  if (kind?.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (kind?.type === 'number' || kind?.type === 'integer')
    return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text
  return text
}
