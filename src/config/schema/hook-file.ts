import { z } from 'zod'
import { blueprintSchema } from './blueprint.ts'
import { hookSchema } from './hook.ts'
import { ruleSetSchema } from './rules.ts'

/** A whole hook file. `hooks` may be empty but not missing: a file cut off after its first line is no empty file. */
export const hookFileSchema = z
  .strictObject({
    $schema: z.string().exactOptional(),
    version: z.literal(1, 'must be 1, the only version there is').exactOptional(),
    hooks: z.array(hookSchema).readonly(),
    rules: ruleSetSchema.describe('Recovery rules.').exactOptional(),
    blueprints: z.array(blueprintSchema).readonly().exactOptional(),
  })
  .readonly()

export type HookFile = z.output<typeof hookFileSchema>
