import { nonEmpty, tagged, withAbout } from '../engine/core/schema/more-schemas.ts'
import { readIfValid } from '../engine/core/schema/read-checked.ts'
import { type SchemaType, schema } from '../engine/core/schema/schema.ts'

const config = schema.map(schema.any())

/** What starts runners: a process that the gateway keeps, a command, or an endpoint that scales a pool. */
export const environmentSchema = tagged('type', [
  schema.object({
    type: schema.choice(['process'], 'A process that goes on running, for example a runner.'),
    enabled: schema.optional(schema.boolean()),
    exec: schema.list(nonEmpty(), 'The program and its arguments.', {
      minItems: 1,
    }),
    cwd: schema.optional(nonEmpty()),
    allowed_env_vars: schema.optional(schema.list(schema.text())),
  }),
  schema.object({
    type: schema.choice(['command'], 'A command that ends.'),
    enabled: schema.optional(schema.boolean()),
    config: withAbout(config, 'The `config` of a command hook.'),
  }),
  schema.object({
    type: schema.choice(['http'], 'An endpoint.'),
    enabled: schema.optional(schema.boolean()),
    config: withAbout(config, 'The `config` of an http hook.'),
  }),
])
export type EnvironmentDefinition = SchemaType<typeof environmentSchema>

/** Checks a stored environment. Undefined if it cannot be read. */
export function readEnvironment(definition: unknown): EnvironmentDefinition | undefined {
  return readIfValid(environmentSchema, definition)
}
