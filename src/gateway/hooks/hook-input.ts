import { z } from 'zod'
import { hookSchema } from '../../config/schema/hook.ts'

const {
  id: _id,
  disabled_reason: _reason,
  event,
  handler_type,
  scope: _scope,
  timeout_ms: _timeout,
  ...free
} = hookSchema.unwrap().shape

/** What only the gateway sets. Whoever sends a hook back as it was shown may leave them in; they are not read. */
const ours = z.unknown().describe('Set by the gateway; ignored.').exactOptional()
export const forged = {
  id: ours,
  tenant_id: ours,
  source: ours,
  version: ours,
  created_by: ours,
  created_at: ours,
  updated_at: ours,
  disabled_reason: ours,
}

/**
 * A hook as a caller sends it. The three fields that it must have are checked later, together, because callers know
 * the sentence that names all three; the timeout because it has another limit here than in a file.
 */
export const hookInput = z.strictObject({
  event: z
    .string()
    .describe(event.description ?? '')
    .exactOptional(),
  handler_type: z
    .string()
    .describe(handler_type.description ?? '')
    .exactOptional(),
  scope: z.string().describe('global, tenant or agent.').exactOptional(),
  ...free,
  timeout_ms: z.int('must be a whole number').describe('5000 if omitted, at most 10000.').exactOptional(),
  agent_id: z.string().describe('One agent, as older clients say it.').exactOptional(),
  ...forged,
})

export type HookInput = z.output<typeof hookInput>
