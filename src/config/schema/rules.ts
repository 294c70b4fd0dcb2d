import { z } from 'zod'
import { wholeNumber } from './zod-schema.ts'

const DAY_MS = 86_400_000
const text = z.string().min(1, 'must not be empty')
const windowMs = wholeNumber(0, DAY_MS)
const outcome = z.enum(['success', 'failed', 'timeout', 'unknown'])

const trigger = z
  .strictObject({
    event: text,
    outcome: outcome.exactOptional(),
    outcomes: z.array(outcome).min(1, 'must not be empty').readonly().exactOptional(),
  })
  .refine((given) => given.outcome === undefined || given.outcomes === undefined, {
    message: 'Use either trigger.outcome or trigger.outcomes, not both.',
    params: { code: 'config.range' },
  })
  .readonly()

const condition = z
  .strictObject({
    toolNames: z.array(z.string()).readonly().exactOptional(),
    taskStatuses: z.array(z.string()).readonly().exactOptional(),
    errorIncludes: z.array(z.string()).readonly().exactOptional(),
    eventFieldEquals: z
      .record(
        z.string(),
        z.union([z.string(), z.number(), z.boolean()], {
          error: 'can only be compared with text, a number, true or false',
        }),
      )
      .readonly()
      .exactOptional(),
  })
  .readonly()

const action = {
  id: text.exactOptional(),
  enabled: z.boolean().exactOptional(),
  dedupWindowMs: windowMs.exactOptional(),
}

const actions = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('spawn_fallback_agent'),
    ...action,
    description: z.string().exactOptional(),
    promptTemplate: z.string().exactOptional(),
    agentType: z.string().exactOptional(),
    model: z.string().exactOptional(),
  }),
  z.strictObject({
    type: z.literal('notify_team'),
    ...action,
    teamName: z.string().exactOptional(),
    recipients: z.array(z.string()).readonly().exactOptional(),
    summary: z.string().exactOptional(),
    messageTemplate: z.string().exactOptional(),
  }),
  z.strictObject({
    type: z.literal('warm_remote_capacity'),
    ...action,
    createDefaultEnvironmentIfMissing: z.boolean().exactOptional(),
  }),
])

const rule = z
  .strictObject({
    id: text,
    enabled: z.boolean().exactOptional(),
    trigger,
    condition: condition.exactOptional(),
    cooldownMs: windowMs.exactOptional(),
    dedupWindowMs: windowMs.exactOptional(),
    maxDepth: wholeNumber(0, 10).exactOptional(),
    actions: z.array(actions.readonly()).min(1, 'must not be empty').readonly(),
  })
  .readonly()

/** Recovery rules, in the shape of a hook-chains file. The engine of the rules fills in the defaults. */
export const ruleSetSchema = z
  .strictObject({
    version: z.literal(1).exactOptional(),
    enabled: z.boolean().exactOptional(),
    maxChainDepth: wholeNumber(1, 10).exactOptional(),
    defaultCooldownMs: windowMs.exactOptional(),
    defaultDedupWindowMs: windowMs.exactOptional(),
    rules: z.array(rule).readonly().exactOptional(),
  })
  .readonly()
