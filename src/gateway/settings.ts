import { z } from 'zod'
import { wholeNumber } from '../config/schema/zod-schema.ts'

/** What can be set for one tenant, or with the master tenant for all of them. */
export const settingsSchema = z
  .strictObject({
    audit: z
      .enum(['default', 'strict'])
      .describe('strict: a dispatch is answered only after its record is on disk.')
      .exactOptional(),
    breaker: z
      .strictObject({
        counts: z
          .array(z.enum(['error', 'timeout', 'invalid', 'block']))
          .readonly()
          .exactOptional(),
      })
      .readonly()
      .describe('[block, timeout] counts as the original gateway did.')
      .exactOptional(),
    rate_limit: z
      .strictObject({
        per_second: wholeNumber(1, 1_000_000),
        burst: wholeNumber(1, 1_000_000).exactOptional(),
      })
      .readonly()
      .describe('Dispatches of one tenant.')
      .exactOptional(),
    monthly_tokens: wholeNumber(0, Number.MAX_SAFE_INTEGER)
      .describe('Token budget of a tenant that has none of its own.')
      .exactOptional(),
    retention_days: wholeNumber(1, 3_650)
      .describe('How long executions and events are kept.')
      .exactOptional(),
    default_model: z.string().min(1).describe('For prompt hooks that name none.').exactOptional(),
    allowed_hosts: z
      .array(z.string().min(1))
      .readonly()
      .describe('Inner hosts that webhooks and models may be called at; master only.')
      .exactOptional(),
  })
  .readonly()

export type SettingValues = z.infer<typeof settingsSchema>

export const defaultSettings = {
  audit: 'default',
  rate_limit: { per_second: 5_000, burst: 10_000 },
  monthly_tokens: 1_000_000,
  retention_days: 30,
} as const satisfies SettingValues

export type SettingsInForce = SettingValues &
  Required<Pick<SettingValues, 'audit' | 'rate_limit' | 'monthly_tokens' | 'retention_days'>>

/** The settings in force, kept in memory: master values under those of the tenant, both over the defaults. */
export interface Settings {
  of(tenant: string): SettingsInForce
  /** Read again after a change on any node. */
  reload(tenant: string): Promise<void>
}
