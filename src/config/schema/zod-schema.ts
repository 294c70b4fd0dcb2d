import { z } from 'zod'
import { type FieldsType, rangeText, type Schema, type SchemaFields } from '../../engine/core/schema.ts'

/** A whole number with both ends named in the message. */
export function wholeNumber(min: number, max: number) {
  const message = `must ${rangeText(min, max)}`
  return z.int(message).min(min, message).max(max, message)
}

/** One of our schemas as a zod schema, for methods of the gateway that take or return such a value. */
export function toZod<T>(node: Schema<T>): z.ZodType<T> {
  const made = zodOf(node)
  // Both are made from the same node.
  return (node.about === undefined ? made : made.describe(node.about)) as z.ZodType<T>
}

/** The fields of an object schema as optional zod fields. */
export function zodFields<F extends SchemaFields>(
  fields: F,
): { [K in keyof F]: z.ZodExactOptional<z.ZodType<Exclude<FieldsType<F>[K], undefined>>> } {
  const made = Object.entries(fields).map(([name, field]) => [name, toZod(field).exactOptional()])
  return Object.fromEntries(made)
}

function zodOf(node: Schema): z.ZodType {
  switch (node.kind) {
    case 'any':
      return z.unknown()
    case 'text': {
      const atLeast = z.string().min(node.minLength ?? 0, 'must not be empty')
      const { maxLength } = node
      return maxLength === undefined
        ? atLeast
        : atLeast.max(maxLength, `must have at most ${maxLength} characters`)
    }
    case 'integer':
      return wholeNumber(node.min, node.max)
    case 'boolean':
      return z.boolean()
    case 'scalar':
      return z.union([z.string(), z.number(), z.boolean(), z.null()], {
        error: 'must be text, a number, true, false or null',
      })
    case 'choice': {
      const { values, aliases = {} } = node
      const known = z.enum([...values, ...Object.keys(aliases)])
      return Object.keys(aliases).length === 0 ? known : known.transform((given) => aliases[given] ?? given)
    }
    case 'list':
      return z
        .array(toZod(node.item))
        .min(node.minItems ?? 0, 'must not be empty')
        .readonly()
    case 'map':
      return z.record(z.string(), toZod(node.value)).readonly()
    case 'object': {
      const shape = Object.entries(node.fields).map(([name, field]) => [
        name,
        node.required.includes(name) ? toZod(field) : toZod(field).exactOptional(),
      ])
      return z.strictObject(Object.fromEntries(shape)).readonly()
    }
    case 'union':
      return z.union(node.options.map(toZod), { error: `must be ${node.expected}` })
  }
}
