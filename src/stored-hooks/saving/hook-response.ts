import { hookScopes } from '../../engine/core/hook.ts'
import { nullable, numeric } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { hookSchema } from '../../engine/hook-definition.ts'
import { maskConfig } from '../../secrets/config-secrets.ts'
import { type HookRow, hookSources } from '../hook-tables.ts'

/** A stored hook as the API returns it. */
export const hookResponse = schema.object({
  ...hookSchema.fields,
  event: schema.text(),
  handler_type: schema.text(),
  id: schema.text(),
  tenant_id: schema.text(),
  scope: schema.choice(hookScopes),
  agent_ids: schema.list(schema.text()),
  priority: numeric(),
  enabled: schema.boolean(),
  version: numeric(),
  source: schema.choice(hookSources),
  created_by: nullable(schema.text()),
  created_at: numeric(),
  updated_at: numeric(),
})

/** The row with masked secrets. */
export function toHookResponse(row: HookRow): SchemaType<typeof hookResponse> {
  return { ...row, config: maskConfig(row.config) }
}
