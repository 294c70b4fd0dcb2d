import { z } from 'zod'
import { catalogue } from '../../engine/events/catalogue.ts'
import { handlerConfigs } from './handler-config.ts'
import { hookSchema } from './hook.ts'
import { hookFileSchema } from './hook-file.ts'

/** Where editors find the schema; the package carries the same file. */
export const SCHEMA_URL = 'https://unpkg.com/hookhelm/schema/hooks.schema.json'

/** The JSON Schema of a hook file, for editors and for other programs. */
export function hookFileJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...body } = z.toJSONSchema(hookFileSchema, {
    io: 'input',
    override({ zodSchema, jsonSchema }) {
      // What is read-only to a program is what a person writes.
      delete jsonSchema.readOnly
      if (zodSchema === hookSchema) withConfigs(jsonSchema)
    },
  })
  return { $schema, $id: SCHEMA_URL, title: 'Hookhelm hook file', ...body }
}

type Json = z.core.JSONSchema.BaseSchema

/** Which config belongs to which handler, and which events there are; other spellings of an event are welcome. */
function withConfigs(schema: Json): void {
  if (schema.properties === undefined) return
  const { event } = schema.properties
  if (typeof event === 'object') {
    const { description, ...rest } = event
    schema.properties.event = {
      ...(description ? { description } : {}),
      anyOf: [{ enum: Object.keys(catalogue) }, rest],
    }
  }
  schema.allOf = Object.entries(handlerConfigs).map(([type, config]) => ({
    if: { properties: { handler_type: { const: type } } },
    // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's
    then: { properties: { config: withoutDraft(z.toJSONSchema(config, { io: 'input' })) } },
  }))
}

function withoutDraft({ $schema: _, ...schema }: Json): Json {
  return schema
}
