import { z } from 'zod'

const config = z.record(z.string(), z.unknown())

/** What starts runners: a process that the gateway keeps, a command, or an endpoint that scales a pool. */
export const environmentSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('process').describe('A process that goes on running, for example a runner.'),
    enabled: z.boolean().exactOptional(),
    exec: z.array(z.string().min(1)).min(1).readonly().describe('The program and its arguments.'),
    cwd: z.string().min(1).exactOptional(),
    allowed_env_vars: z.array(z.string()).readonly().exactOptional(),
  }),
  z.strictObject({
    type: z.literal('command').describe('A command that ends.'),
    enabled: z.boolean().exactOptional(),
    config: config.describe('The `config` of a command hook.'),
  }),
  z.strictObject({
    type: z.literal('http').describe('An endpoint.'),
    enabled: z.boolean().exactOptional(),
    config: config.describe('The `config` of an http hook.'),
  }),
])
export type EnvironmentDefinition = z.output<typeof environmentSchema>

/** Checks a stored environment. Undefined if it cannot be read. */
export function readEnvironment(definition: unknown): EnvironmentDefinition | undefined {
  const read = environmentSchema.safeParse(definition)
  return read.success ? read.data : undefined
}
