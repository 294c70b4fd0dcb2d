import { wholeNumber } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { hookSchema } from '../../engine/hook-definition.ts'

/** Fields that only the gateway sets. A caller may send them back unchanged; they are ignored. */
const ownedField = schema.optional(schema.any('Set by the gateway; ignored.'))
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

const { event, handler_type, scope, ...others } = hookSchema.fields

/**
 * A hook as a caller sends it. One message requires `event`, `handler_type` and `scope` together, as in the original
 * gateway. `timeout_ms` has another limit than in a file.
 */
export const hookInput = schema.object(
  schema.partial({
    event: schema.text(event.about),
    handler_type: schema.text(handler_type.about),
    scope: schema.text(scope.about),
    ...others,
    timeout_ms: wholeNumber('5000 if omitted, at most 10000.'),
    agent_id: schema.text('One agent; the same as `agent_ids` with one entry.'),
    ...gatewayOwnedFields,
  }),
)

export type HookInput = SchemaType<typeof hookInput>

export function withoutOwnedFields<T extends object>(given: T): Omit<T, keyof typeof gatewayOwnedFields> {
  const own = Object.entries(given).filter(([name]) => !Object.hasOwn(gatewayOwnedFields, name))
  // `fromEntries` forgets the names.
  return Object.fromEntries(own) as Omit<T, keyof typeof gatewayOwnedFields>
}
