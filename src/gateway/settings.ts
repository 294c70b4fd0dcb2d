import { z } from 'zod'
import { wholeNumber } from '../config/schema/zod-schema.ts'
import type { Store } from '../store/store.ts'
import { MASTER_TENANT } from '../store/stores/tenant-store.ts'
import { approvalRoutesSchema } from './approvals/approval-routes.ts'

/** `HOOKHELM_` variables include the keys and tokens of the gateway. */
const HEADER_VARIABLE = /^(?!HOOKHELM_)[A-Za-z_][A-Za-z0-9_]*$/i

/** Settings of one tenant; those of the master tenant apply to every tenant. */
export const settingsSchema = z
  .strictObject({
    audit: z
      .enum(['default', 'strict'])
      .describe('strict: the gateway returns a decision only after its record is on disk.')
      .exactOptional(),
    breaker: z
      .strictObject({
        counts: z
          .array(z.enum(['error', 'timeout', 'invalid', 'block']))
          .readonly()
          .exactOptional(),
      })
      .readonly()
      .describe('[block, timeout] counts the same as the original gateway.')
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
      .describe('Token budget of tenants without their own.')
      .exactOptional(),
    retention_days: wholeNumber(1, 3_650)
      .describe('Days for which executions and events are kept.')
      .exactOptional(),
    approval_timeout_ms: wholeNumber(1_000, 7 * 86_400_000)
      .describe('How long people may take to answer a request for approval; then the call is denied.')
      .exactOptional(),
    own_approvals: z
      .boolean()
      .describe('false: the token that sent a call may not approve it.')
      .exactOptional(),
    approval_routes: approvalRoutesSchema
      .describe('Where requests for approval are sent, besides the web app and `hookhelm approvals watch`.')
      .exactOptional(),
    approval_links: z
      .enum(['open', 'sign_in'])
      .describe('sign_in: a link in a message answers only for a person who is signed in. open if omitted.')
      .exactOptional(),
    approval_budget: z
      .strictObject({
        per_session: wholeNumber(1, 100_000).exactOptional(),
        per_agent: wholeNumber(1, 100_000).exactOptional(),
        per_tenant: wholeNumber(1, 100_000).exactOptional(),
      })
      .readonly()
      .describe('The most questions to people in an hour. Further calls are blocked, and an alert is raised.')
      .exactOptional(),
    public_url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https address' })
      .describe('The address at which people reach the gateway, for links in messages; master scope only.')
      .exactOptional(),
    default_model: z.string().min(1).describe('The model of prompt hooks that name none.').exactOptional(),
    allowed_hosts: z
      .array(z.string().min(1))
      .readonly()
      .describe('Private hosts that webhooks and models may call; master scope only.')
      .exactOptional(),
    header_variables: z
      .array(z.string().regex(HEADER_VARIABLE, 'must name a variable, and none of the gateway itself'))
      .readonly()
      .describe(
        `Variables of the gateway’s environment that headers of http run hooks may use, as \`\${NAME}\`; master scope only.`,
      )
      .exactOptional(),
    rules_enabled: z
      .boolean()
      .describe(
        'Recovery rules may fire; false if omitted. false for the gateway stops those of every tenant.',
      )
      .exactOptional(),
    rules_max_chain_depth: wholeNumber(1, 10)
      .describe('How deep stored rules may cause one another; 2 if omitted.')
      .exactOptional(),
    default_team: z.string().min(1).describe('The team of messages that name none.').exactOptional(),
    allow_remote_sessions: z
      .boolean()
      .describe('Rules may start runners through environments; false if omitted.')
      .exactOptional(),
    fallback_tools: z
      .array(z.string().min(1))
      .readonly()
      .describe('The most tools of a fallback agent that takes over from no run; [Read] if omitted.')
      .exactOptional(),
    model_aliases: z
      .record(z.string().min(1), z.string().min(1))
      .readonly()
      .describe('Models for short names such as haiku, sonnet and opus.')
      .exactOptional(),
    smtp: z
      .strictObject({
        host: z.string().min(1),
        port: wholeNumber(1, 65_535).exactOptional(),
        secure: z.boolean().describe('TLS from the first byte.').exactOptional(),
        from: z.string().min(1),
        user: z.string().min(1).exactOptional(),
        password: z.string().min(1).describe('`secret:NAME`, a secret of the master tenant.').exactOptional(),
      })
      .readonly()
      .describe('The mail server for messages to teams; master scope only.')
      .exactOptional(),
  })
  .readonly()

export type SettingValues = z.infer<typeof settingsSchema>

export const defaultSettings = {
  audit: 'default',
  rate_limit: { per_second: 5_000, burst: 10_000 },
  monthly_tokens: 1_000_000,
  retention_days: 30,
  approval_timeout_ms: 15 * 60_000,
  own_approvals: false,
  approval_budget: { per_session: 100 },
} as const satisfies SettingValues

export type SettingsInForce = SettingValues &
  Required<
    Pick<
      SettingValues,
      | 'audit'
      | 'rate_limit'
      | 'monthly_tokens'
      | 'retention_days'
      | 'approval_timeout_ms'
      | 'own_approvals'
      | 'approval_budget'
    >
  >

/** The settings in force: the tenant's own, then the master tenant's, then config.yaml, then the defaults. */
export interface Settings {
  of(tenant: string): SettingsInForce
  /** Reads the settings of a tenant again, after a change on any node. */
  reload(tenant: string): Promise<void>
}

/** Keeps settings in memory. Those of a tenant are read with its snapshot, so a dispatch never reads the store for them. */
export async function cacheSettings(
  store: Pick<Store, 'readSettings'>,
  fromFile: SettingValues,
): Promise<Settings> {
  const stored = new Map<string, SettingValues>()
  /** Merged on change, because every dispatch reads them. */
  const merged = new Map<string, SettingsInForce>()
  let common: SettingsInForce = { ...defaultSettings, ...fromFile }

  const reload = async (tenant: string) => {
    const read = settingsSchema.safeParse(await store.readSettings(tenant))
    // The gateway validated the values when it stored them; values that only a newer version knows are ignored.
    const own = read.success ? read.data : {}
    if (tenant === MASTER_TENANT) {
      common = { ...defaultSettings, ...fromFile, ...own }
      for (const [name, values] of stored) merged.set(name, mergeSettings(common, values))
      return
    }
    stored.set(tenant, own)
    merged.set(tenant, mergeSettings(common, own))
  }
  await reload(MASTER_TENANT)
  return { of: (tenant) => merged.get(tenant) ?? common, reload }
}

/**
 * A tenant can make its audit stricter, not looser. Retention, mail server and public address are one value for the whole
 * gateway.
 */
function mergeSettings(
  common: SettingsInForce,
  { retention_days: _, smtp: __, public_url: ___, ...own }: SettingValues,
): SettingsInForce {
  return {
    ...common,
    ...own,
    ...(common.audit === 'strict' ? { audit: 'strict' } : {}),
    // The switch of the gateway stops all rules.
    ...(common.rules_enabled === false ? { rules_enabled: false } : {}),
  }
}
