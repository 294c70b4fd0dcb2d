import { z } from 'zod'
import type { Policy } from '../../engine/core/event.ts'

/** A whole number with both ends named, as a person reads it. */
export function wholeNumber(low: number, high: number) {
  return z
    .int(`must be a whole number from ${low} to ${high}`)
    .min(low, within(low, high))
    .max(high, within(low, high))
}

function within(low: number, high: number): string {
  return `must be a whole number from ${low} to ${high}`
}

const DAY_MS = 86_400_000
const name = z.string().min(1, 'must not be empty')

/** Run hooks elsewhere say `continue` or `ignore` where we say `allow`. */
const policy = z
  .enum(['block', 'allow', 'continue', 'ignore'])
  .transform((given): Policy => (given === 'block' ? 'block' : 'allow'))
const outcome = z.enum(['success', 'failed', 'timeout', 'unknown'])
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'can only be compared with text, a number, true, false or null',
})

const match = z
  .strictObject({
    glob: z.string().exactOptional(),
    names: z.array(z.string()).readonly().exactOptional(),
    fields: z.record(z.string(), scalar).readonly().exactOptional(),
    outcome: z
      .union([outcome, z.array(outcome).readonly()], {
        error: 'must be success, failed, timeout, unknown, or a list of these',
      })
      .exactOptional(),
  })
  .readonly()

const budget = z
  .strictObject({
    name: z.string(),
    cost: wholeNumber(0, Number.MAX_SAFE_INTEGER).exactOptional(),
    limit: wholeNumber(0, Number.MAX_SAFE_INTEGER),
  })
  .readonly()

/** The one hook shape: the same fields in a file, over the API, in the database and in a form. */
export const hookSchema = z
  .strictObject({
    id: name.describe('Stable name; decisions, traces and guards carry it.').exactOptional(),
    event: name.describe('When it runs: the name of an event, in any spelling.'),
    handler_type: name.describe('What it runs: command, http, prompt, agent, script.'),
    config: z.unknown().describe('Settings of the handler.').exactOptional(),
    name: z.string().exactOptional(),
    description: z.string().exactOptional(),
    scope: z
      .enum(['global', 'tenant', 'agent'])
      .describe('Whom it is for; tenant if omitted.')
      .exactOptional(),
    agent_ids: z.array(z.string()).readonly().exactOptional(),
    matcher: z.string().describe('RE2 search on the tool name, or Tool(pattern).').exactOptional(),
    if_expr: z.string().describe('A condition in CEL.').exactOptional(),
    match: match.describe('Further conditions; all must hold.').exactOptional(),
    timeout_ms: wholeNumber(1, 600_000).exactOptional(),
    on_error: policy.exactOptional(),
    on_timeout: policy.exactOptional(),
    on_invalid: policy.exactOptional(),
    priority: wholeNumber(-1_000_000, 1_000_000).describe('Higher runs first.').exactOptional(),
    enabled: z.boolean().describe('true if omitted.').exactOptional(),
    disabled_reason: z.string().exactOptional(),
    locked: z.boolean().describe('Set by the managed file; no other file may.').exactOptional(),
    recheck: z.boolean().describe('Runs again when a later hook changed the input.').exactOptional(),
    shadow: z.boolean().describe('Runs and is recorded, but changes nothing.').exactOptional(),
    transform: z.boolean().describe('May change what the event carries.').exactOptional(),
    cooldown_ms: wholeNumber(0, DAY_MS).exactOptional(),
    dedup_window_ms: wholeNumber(0, DAY_MS).exactOptional(),
    max_invocations_per_turn: wholeNumber(1, 1_000_000).exactOptional(),
    budget: budget.exactOptional(),
  })
  .readonly()
