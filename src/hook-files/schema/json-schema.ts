import type { Handler } from '../../engine/core/handler.ts'
import type { ObjectNode, Schema } from '../../engine/core/schema/schema.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { fileHookSchema, hookFileSchema } from './hook-file.ts'

/** Where editors find the schema; the package carries the same file. */
export const SCHEMA_URL = 'https://unpkg.com/hookhelm/schema/hooks.schema.json'

export type Json = Readonly<Record<string, unknown>>
type Override = (node: Schema, json: Json) => Json

/** The JSON Schema (draft 2020-12) of one of our schemas. `override` may replace the result for some of them. */
export function toJsonSchema(node: Schema, override?: Override): Json {
  const json = { ...jsonOf(node, override), ...(node.about === undefined ? {} : { description: node.about }) }
  return override?.(node, json) ?? json
}

function jsonOf(node: Schema, override?: Override): Json {
  switch (node.kind) {
    case 'any':
      return {}
    case 'text':
      return {
        type: 'string',
        ...(node.minLength ? { minLength: node.minLength } : {}),
        ...definedFields({ maxLength: node.maxLength, format: node.format, pattern: node.pattern?.source }),
      }
    case 'number':
      return {
        type: 'number',
        ...definedFields({ minimum: node.min, exclusiveMinimum: node.moreThan, format: node.format }),
      }
    case 'integer':
      return node.min === node.max
        ? { const: node.min }
        : { type: 'integer', minimum: node.min, maximum: node.max }
    case 'boolean':
      return { type: 'boolean' }
    case 'scalar':
      return { type: ['string', 'number', 'boolean', 'null'] }
    case 'choice':
      return {
        ...(node.values.every((value) => typeof value === 'string') ? { type: 'string' } : {}),
        enum: [...node.values, ...Object.keys(node.aliases ?? {})],
      }
    case 'list':
      return {
        type: 'array',
        items: toJsonSchema(node.item, override),
        ...(node.minItems ? { minItems: node.minItems } : {}),
        ...definedFields({ maxItems: node.maxItems }),
      }
    case 'map':
      return { type: 'object', additionalProperties: toJsonSchema(node.value, override) }
    case 'object':
      return {
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(node.fields).map(([name, field]) => [name, toJsonSchema(field, override)]),
        ),
        ...(node.required.length > 0 ? { required: node.required } : {}),
        additionalProperties: othersOf(node, override),
      }
    case 'nullable': {
      const { about: _, ...value } = node.value
      const json = toJsonSchema(value, override)
      const isPlain = Object.keys(json).every((key) => key === 'type')
      return isPlain ? { type: [json.type, 'null'] } : { anyOf: [json, { type: 'null' }] }
    }
    case 'tagged':
      return { oneOf: node.options.map((option) => toJsonSchema(option, override)) }
    case 'union':
      return { anyOf: node.options.map((option) => toJsonSchema(option, override)) }
  }
}

function othersOf({ others }: ObjectNode, override?: Override): Json | boolean {
  if (others === undefined) return false
  return others === 'dropped' || toJsonSchema(others, override)
}

/** The JSON Schema of a hook file, for editors and other programs. Handlers add the shape of their `config`. */
export function hookFileJsonSchema(handlers: readonly Pick<Handler, 'type' | 'schema'>[]): Json {
  const body = toJsonSchema(hookFileSchema, (node, json) =>
    node === fileHookSchema ? withEventsAndConfigs(json, handlers) : json,
  )
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: SCHEMA_URL,
    title: 'Hookhelm hook file',
    ...body,
  }
}

/** Adds the names of the events, which editors suggest and do not enforce, and the config of each handler type. */
function withEventsAndConfigs(json: Json, handlers: readonly Pick<Handler, 'type' | 'schema'>[]): Json {
  const properties = json.properties as Readonly<Record<string, Json>>
  const { description, ...event } = properties.event ?? {}
  return {
    ...json,
    properties: {
      ...properties,
      event: { description, anyOf: [{ enum: Object.keys(catalogue) }, event] },
    },
    allOf: handlers.flatMap(({ type, schema }) =>
      schema === undefined
        ? []
        : [
            {
              if: { properties: { handler_type: { const: type } } },
              // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's
              then: {
                properties: { config: toJsonSchema(schema) },
                ...(schema.kind === 'object' && schema.required.length > 0 ? { required: ['config'] } : {}),
              },
            },
          ],
    ),
  }
}
