import { z } from 'zod'
import { zodFields } from '../../config/schema/zod-schema.ts'
import { hookSchema } from '../../engine/hook-definition.ts'
import type { HookRow } from '../../store/stores/hook-store.ts'
import { maskConfig } from './config-secrets.ts'

/** A stored hook as the API returns it. */
export const hookResponse = z.strictObject({
  ...zodFields(hookSchema.fields),
  event: z.string(),
  handler_type: z.string(),
  id: z.string(),
  tenant_id: z.string(),
  scope: z.enum(['global', 'tenant', 'agent']),
  agent_ids: z.array(z.string()).readonly(),
  priority: z.number(),
  enabled: z.boolean(),
  version: z.number(),
  source: z.enum(['builtin', 'user', 'blueprint']),
  created_by: z.string().nullable(),
  created_at: z.number(),
  updated_at: z.number(),
})

/** The row with masked secrets. */
export function toHookResponse(row: HookRow): z.output<typeof hookResponse> {
  return { ...row, config: maskConfig(row.config) }
}
