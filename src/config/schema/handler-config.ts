import { z } from 'zod'

const text = z.string().min(1, 'must not be empty')

const command = z
  .looseObject({
    command: text.describe('A line for the shell.').exactOptional(),
    exec: z
      .array(z.string())
      .min(1, 'must not be empty')
      .describe('Program and arguments, no shell.')
      .exactOptional(),
    allowed_env_vars: z.array(z.string()).exactOptional(),
    cwd: text.exactOptional(),
    worker: z.boolean().describe('One process for all events, one JSON line each.').exactOptional(),
  })
  .refine((config) => (config.command === undefined) !== (config.exec === undefined), {
    message: 'needs exactly one of command and exec',
  })

const http = z.looseObject({
  url: text,
  headers: z.record(z.string(), z.unknown()).exactOptional(),
})

const prompt = z
  .looseObject({
    prompt_template: text.describe('What the model is asked.').exactOptional(),
    prompt: text.describe('The same in the OpenHarness format.').exactOptional(),
    model: text.exactOptional(),
  })
  .refine((config) => config.prompt_template !== undefined || config.prompt !== undefined, {
    message: 'needs a prompt_template',
  })

const script = z.looseObject({
  source: text.describe('JavaScript with function handle(event).'),
})

/**
 * What the config of each handler type must at least be, so that a file can be checked where no handler is installed.
 * The handler itself reads it strictly.
 */
export const handlerConfigs: Readonly<Record<string, z.ZodType>> = {
  command,
  http,
  prompt,
  agent: z.looseObject({}),
  script,
}

export function handlerConfigOf(type: unknown): z.ZodType | undefined {
  return typeof type === 'string' && Object.hasOwn(handlerConfigs, type) ? handlerConfigs[type] : undefined
}
