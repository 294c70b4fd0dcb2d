import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { hookSchema } from '../../engine/hook-definition.ts'

/** The store counts versions; a file has none. */
const { version: _, ...fields } = hookSchema.fields

/** A hook as it is written in a file. */
export const fileHookSchema = schema.object(fields)

/** `hooks` may be empty but not missing: a file that was cut off after its first line is not an empty file. */
export const hookFileSchema = schema.object({
  ...schema.partial({
    $schema: schema.text('Where editors find the schema of this file.'),
    version: schema.integer(1, 1, 'The version of the file format: 1.'),
  }),
  hooks: schema.list(fileHookSchema, 'The hooks, in the order in which they are created.'),
})

/** A whole hook file. */
export interface HookFile extends SchemaType<typeof hookFileSchema> {}

/** Keys that belong to other files, and where they belong. */
export const misplacedKeys: Readonly<Record<string, string>> = {
  rules: 'recovery rules do not belong in a hook file: put them into .hookhelm/hook-chains.json',
  blueprints: 'blueprints do not belong in a hook file: each has a file of its own, agents/NAME/agent.json',
}
