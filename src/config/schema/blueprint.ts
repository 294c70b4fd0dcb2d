import { z } from 'zod'

const text = z.string().min(1, 'must not be empty')

/** At most one agent at each end of a run. */
const runHook = z
  .strictObject({
    type: z.literal('agent').exactOptional(),
    agent_name: text,
    on_error: z.enum(['block', 'continue', 'ignore', 'allow']).exactOptional(),
    timeout_seconds: z.int('must be a whole number').exactOptional(),
  })
  .readonly()

/** An agent definition. Its host may keep fields of its own in it; the hooks are ours and read strictly. */
export const blueprintSchema = z
  .looseObject({
    name: text,
    type: z.enum(['autonomous', 'procedural']).exactOptional(),
    description: z.string().exactOptional(),
    parameters_schema: z.record(z.string(), z.unknown()).nullable().exactOptional(),
    output_schema: z.record(z.string(), z.unknown()).nullable().exactOptional(),
    system_prompt: z.string().nullable().exactOptional(),
    hooks: z
      .strictObject({
        on_run_start: runHook.nullable().exactOptional(),
        on_run_finish: runHook.nullable().exactOptional(),
      })
      .readonly()
      .nullable()
      .exactOptional(),
  })
  .readonly()
