import { z } from 'zod'
import { hookSchema } from '../../config/schema/hook.ts'
import type { HookRow } from '../../store/stores/hook-store.ts'
import { maskConfig } from './config-secrets.ts'

/** A stored hook as it is answered. */
export const hookShown = hookSchema.unwrap().extend({
  id: z.string(),
  tenant_id: z.string(),
  scope: z.enum(['global', 'tenant', 'agent']),
  agent_ids: z.array(z.string()).readonly(),
  priority: z.number(),
  enabled: z.boolean(),
  version: z.number(),
  source: z.enum(['builtin', 'user']),
  created_by: z.string().nullable(),
  created_at: z.number(),
  updated_at: z.number(),
})

export function shown(row: HookRow): z.output<typeof hookShown> {
  return { ...row, config: maskConfig(row.config) }
}
