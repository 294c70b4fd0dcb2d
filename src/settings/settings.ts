import { MASTER_TENANT } from '../access/tenant-tables.ts'
import { nonEmpty, textLike, withAbout } from '../engine/core/schema/more-schemas.ts'
import { readIfValid } from '../engine/core/schema/read-checked.ts'
import { type SchemaType, schema } from '../engine/core/schema/schema.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import type { Store } from '../store/store.ts'
import { webAddress } from '../teams/teams.ts'
import { approvalRoutesSchema } from './approval-routes.ts'

/** `HOOKHELM_` variables include the keys and tokens of the gateway. */
const HEADER_VARIABLE = /^(?!HOOKHELM_)[A-Za-z_][A-Za-z0-9_]*$/i

/** Settings of one tenant; those of the master tenant apply to every tenant. */
export const settingsSchema = schema.object(
  schema.partial({
    audit: schema.choice(
      ['default', 'strict'],
      'strict: the gateway returns a decision only after its record is on disk.',
    ),
    breaker: schema.object(
      {
        counts: schema.optional(schema.list(schema.choice(['error', 'timeout', 'invalid', 'block']))),
      },
      '[block, timeout] counts the same as the original gateway.',
    ),
    rate_limit: schema.object(
      {
        per_second: schema.integer(1, 1_000_000),
        burst: schema.optional(schema.integer(1, 1_000_000)),
      },
      'Dispatches of one tenant.',
    ),
    monthly_tokens: schema.integer(0, Number.MAX_SAFE_INTEGER, 'Token budget of tenants without their own.'),
    retention_days: schema.integer(1, 3_650, 'Days for which executions and events are kept.'),
    approval_timeout_ms: schema.integer(
      1_000,
      7 * 86_400_000,
      'How long people may take to answer a request for approval; then the call is denied.',
    ),
    own_approvals: schema.boolean('false: the member that sent a call may not approve it.'),
    approval_routes: withAbout(
      approvalRoutesSchema,
      'Where requests for approval are sent, besides the web app and `hookhelm approvals watch`.',
    ),
    approval_links: schema.choice(
      ['open', 'sign_in'],
      'sign_in: a link in a message answers only for a person who is signed in. open if omitted.',
    ),
    approval_budget: schema.object(
      schema.partial({
        per_session: schema.integer(1, 100_000),
        per_agent: schema.integer(1, 100_000),
        per_tenant: schema.integer(1, 100_000),
      }),
      'The most questions to people in an hour. Further calls are blocked, and an alert is raised.',
    ),
    public_url: webAddress(
      'The address at which people reach the gateway, for links in messages; master scope only.',
    ),
    default_model: nonEmpty('The model of prompt hooks that name none.'),
    allowed_hosts: schema.list(
      nonEmpty(),
      'Private hosts that webhooks and models may call; master scope only.',
    ),
    header_variables: schema.list(
      textLike(HEADER_VARIABLE, 'name a variable, and none of the gateway itself'),
      `Variables of the gateway’s environment that headers of http run hooks may use, as \`\${NAME}\`; master scope only.`,
    ),
    run_folders: schema.list(
      textLike(/^\//, 'be an absolute path'),
      'Folders that runs on the machine of the gateway may name, with those below them; master scope only. The project in which `hookhelm up` was started if omitted, and none if that is a home or `/`.',
    ),
    rules_enabled: schema.boolean(
      'Recovery rules may fire; false if omitted. false for the gateway stops those of every tenant.',
    ),
    rules_max_chain_depth: schema.integer(
      1,
      10,
      'How deep stored rules may cause one another; 2 if omitted.',
    ),
    default_team: nonEmpty('The team of messages that name none.'),
    allow_remote_sessions: schema.boolean('Rules may start runners through environments; false if omitted.'),
    fallback_tools: schema.list(
      nonEmpty(),
      'The most tools of a fallback agent that takes over from no run; [Read] if omitted.',
    ),
    model_aliases: schema.map(nonEmpty(), 'Models for short names such as haiku, sonnet and opus.'),
    smtp: schema.object(
      {
        host: nonEmpty(),
        port: schema.optional(schema.integer(1, 65_535)),
        secure: schema.optional(schema.boolean('TLS from the first byte.')),
        from: nonEmpty(),
        user: schema.optional(nonEmpty()),
        password: schema.optional(nonEmpty('`secret:NAME`, a secret of the master tenant.')),
      },
      'The mail server for messages to teams; master scope only.',
    ),
  }),
)

export type SettingValues = SchemaType<typeof settingsSchema>

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
  let ofGateway: SettingValues = fromFile
  let common: SettingsInForce = { ...defaultSettings, ...fromFile }
  const merge = (own: SettingValues): SettingsInForce => ({
    ...common,
    ...ofTenant(own),
    ...tightest(ofGateway, own),
  })

  const reload = async (tenant: string) => {
    // The gateway validated the values when it stored them; values that only a newer version knows are ignored.
    const own = readIfValid(settingsSchema, await store.readSettings(tenant)) ?? {}
    if (tenant === MASTER_TENANT) {
      ofGateway = { ...fromFile, ...own }
      common = { ...defaultSettings, ...ofGateway }
      for (const [name, values] of stored) merged.set(name, merge(values))
      return
    }
    stored.set(tenant, own)
    merged.set(tenant, merge(own))
  }
  await reload(MASTER_TENANT)
  return { of: (tenant) => merged.get(tenant) ?? common, reload }
}

/** Retention, mail server, public address and folders of runs are one value for the whole gateway. */
function ofTenant({
  retention_days: _,
  smtp: __,
  public_url: ___,
  run_folders: ____,
  ...own
}: SettingValues): SettingValues {
  return own
}

/** A tenant can make a policy that the gateway has set stricter, not looser. */
function tightest(gateway: SettingValues, own: SettingValues): SettingValues {
  const { approval_budget: limits } = gateway
  return {
    ...(gateway.audit === 'strict' ? { audit: 'strict' } : {}),
    // The switch of the gateway stops all rules.
    ...(gateway.rules_enabled === false ? { rules_enabled: false } : {}),
    ...(gateway.allow_remote_sessions === false ? { allow_remote_sessions: false } : {}),
    ...(gateway.approval_links === 'sign_in' ? { approval_links: 'sign_in' } : {}),
    ...(gateway.own_approvals === false ? { own_approvals: false } : {}),
    ...(limits === undefined ? {} : { approval_budget: lowest(limits, own.approval_budget) }),
  }
}

type ApprovalBudget = NonNullable<SettingValues['approval_budget']>

function lowest(gateway: ApprovalBudget, own: ApprovalBudget = {}): ApprovalBudget {
  const limit = (name: keyof ApprovalBudget) => {
    const [all, tenant] = [gateway[name], own[name]]
    return all === undefined || tenant === undefined ? (all ?? tenant) : Math.min(all, tenant)
  }
  return definedFields({
    per_session: limit('per_session'),
    per_agent: limit('per_agent'),
    per_tenant: limit('per_tenant'),
  })
}
