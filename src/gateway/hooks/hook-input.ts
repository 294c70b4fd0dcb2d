import { z } from 'zod'
import { zodFields } from '../../config/schema/zod-schema.ts'
import { hookSchema } from '../../engine/hook-definition.ts'

const {
  id: _id,
  disabled_reason: _reason,
  tripped_by: _failure,
  version: _version,
  event: _event,
  handler_type: _handler,
  scope: _scope,
  timeout_ms: _timeout,
  ...free
} = zodFields(hookSchema.fields)

/** Fields that only the gateway sets. A caller may send them back unchanged; they are ignored. */
const ownedField = z.unknown().describe('Set by the gateway; ignored.').exactOptional()
export const gatewayOwnedFields = {
  id: ownedField,
  tenant_id: ownedField,
  source: ownedField,
  version: ownedField,
  created_by: ownedField,
  created_at: ownedField,
  updated_at: ownedField,
  disabled_reason: ownedField,
  tripped_by: ownedField,
}

const described = (field: 'event' | 'handler_type' | 'scope') =>
  z
    .string()
    .describe(hookSchema.fields[field].about ?? '')
    .exactOptional()

/**
 * A hook as a caller sends it. One message requires `event`, `handler_type` and `scope` together, as in the original
 * gateway. `timeout_ms` has another limit than in a file.
 */
export const hookInput = z.strictObject({
  event: described('event'),
  handler_type: described('handler_type'),
  scope: described('scope'),
  ...free,
  timeout_ms: z.int('must be a whole number').describe('5000 if omitted, at most 10000.').exactOptional(),
  agent_id: z.string().describe('One agent; the same as `agent_ids` with one entry.').exactOptional(),
  ...gatewayOwnedFields,
})

export type HookInput = z.output<typeof hookInput>
