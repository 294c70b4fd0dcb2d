import { fileURLToPath } from 'node:url'
import { MASTER_TENANT } from '../../access/tenant-tables.ts'
import { deliverApprovalMessage } from '../../approvals/send-approval-message.ts'
import { APPROVAL_MESSAGE } from '../../deliveries/delivery-table.ts'
import type { DeliverWork } from '../../deliveries/delivery-worker.ts'
import type { Handler, Host } from '../../engine/core/handler.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { runsCommands } from '../../engine/core/values/edition.ts'
import type { EventRecord } from '../../history/audit-tables.ts'
import type { AuditQueue } from '../../history/record/audit-queue.ts'
import { trustFile } from '../../hook-files/hook-folders.ts'
import { trustStore } from '../../hook-files/trust.ts'
import type { StatusPart } from '../../methods/status-part.ts'
import { TEAM_MESSAGE } from '../../rules/actions/notify-team.ts'
import type { RuleSettings } from '../../rules/actions/rule-action.ts'
import { createRunHandler } from '../../rules/actions/run-handler.ts'
import { deliverRuleActions } from '../../rules/actions/run-rule-actions.ts'
import { createEnvironmentProcesses } from '../../rules/actions/warm-capacity.ts'
import { RuleFiles } from '../../rules/files/rule-files.ts'
import { deliverRuleTrigger, RULE_ACTIONS } from '../../rules/fire-rules.ts'
import { createTenantRules, type TenantRules } from '../../rules/tenant-rules.ts'
import { createRuleTriggers, RULE_TRIGGER, type RuleTriggers } from '../../rules/trigger-rules.ts'
import type { Coordinator } from '../../runs/coordinator.ts'
import type { Outbound } from '../../safe/outbound/outbound.ts'
import type { MailServer } from '../../safe/outbound/send-mail.ts'
import { childEnvironment } from '../../safe/process/child-environment.ts'
import { startDetachedProcess } from '../../safe/process/detached-process.ts'
import type { Settings } from '../../settings/settings.ts'
import { deliverTeamMessage } from '../../teams/send-team-message.ts'
import type { GatewayContext } from './open-gateway.ts'
import type { GatewayStorage } from './storage/open-storage.ts'

/** The recovery rules of a gateway: what triggers them, and the work that they cause. */
export interface GatewayRules {
  readonly rules: TenantRules
  readonly triggers: RuleTriggers
  readonly files: RuleFiles | undefined
  readonly status: StatusPart
}

/** Loads rules, and decides which events trigger them. */
export function openRules(
  { env, edition, clock, log }: GatewayContext,
  { store, settings }: GatewayStorage,
): GatewayRules {
  const trust = trustStore(trustFile(env))
  const files = edition === 'lite' ? new RuleFiles({ env, trust, clock, log }) : undefined
  const rules = createTenantRules({
    store,
    ...(files === undefined ? {} : { files }),
    maxChainDepthOf: (tenant) => settings.of(tenant).rules_max_chain_depth,
  })
  const isEnabled = (tenant: string) => settings.of(tenant).rules_enabled === true
  return {
    rules,
    files,
    triggers: createRuleTriggers({ rules, isEnabled }),
    status: ruleHealth(settings, files),
  }
}

/** Every rule file that is not in use as it is written must be visible. */
function ruleHealth(settings: Settings, files: RuleFiles | undefined): StatusPart {
  const name = 'recovery rules'
  return (tenant) => {
    if (settings.of(tenant).rules_enabled !== true)
      return { name, state: 'ok', text: 'switched off: set `rules_enabled` to use them' }
    const problems = (files?.known() ?? []).flatMap(({ file, state, problem }) =>
      state === 'good' ? [] : [`${file}: ${problem ?? state}`],
    )
    const [first] = problems
    return first === undefined
      ? { name, state: 'ok', text: 'switched on' }
      : { name, state: 'warn', text: first, details: { problems } }
  }
}

interface RuleWorkParts {
  readonly handlers: readonly Handler[]
  readonly host: Host
  readonly outbound: Outbound
  readonly audit: AuditQueue
  openSecret(tenant: string, value: string): Promise<string>
  runs(): Coordinator
  /** The address of this gateway, for runners that it starts itself. */
  ownUrl(): string | undefined
  /** Something changed that people look at. */
  changed(): void
  wakeDeliveries(): void
}

/** The deliveries that fire rules, run their actions, and carry messages to teams and questions to their routes. */
export function ruleDeliveries(
  context: GatewayContext,
  { store, settings }: GatewayStorage,
  parts: RuleWorkParts,
): Readonly<Record<string, DeliverWork>> {
  const { edition, clock, log } = context
  const { handlers, host, outbound, audit, openSecret, runs, wakeDeliveries } = parts
  const record = async (records: readonly EventRecord[]) => {
    for (const event of records) await audit.commit({ event: () => event })
  }
  const channels = {
    ...{ outbound, clock, openSecret },
    mailServer: () => mailServer(settings, openSecret),
  }
  return {
    [RULE_TRIGGER]: deliverRuleTrigger({ store, record, wakeDeliveries }),
    [RULE_ACTIONS]: deliverRuleActions({
      ...{ store, runs, edition, clock, log, record, wakeDeliveries },
      settingsOf: (tenant) => ruleSettings(settings, tenant),
      runHandler: createRunHandler({ handlers, host, clock }),
      processes: createEnvironmentProcesses(({ exec, cwd, allowed_env_vars: allowed = [] }) =>
        startDetachedProcess(
          { argv: exec, env: environmentOf(settings, allowed), ...definedFields({ cwd }) },
          clock,
        ),
      ),
      defaultEnvironment: () => localRunner(context, parts.ownUrl()),
    }),
    [TEAM_MESSAGE]: deliverTeamMessage(channels),
    [APPROVAL_MESSAGE]: deliverApprovalMessage({
      ...{ ...channels, store, wakeDeliveries },
      changed: parts.changed,
      publicUrl: () => settings.of(MASTER_TENANT).public_url ?? parts.ownUrl(),
    }),
  }
}

/** Runners that the gateway starts on its machine work in the folders that it lists. */
function environmentOf(settings: Settings, allowed: readonly string[]) {
  const folders = settings.of(MASTER_TENANT).run_folders
  return childEnvironment(allowed, folders === undefined ? {} : { HOOKHELM_RUN_FOLDERS: folders.join(',') })
}

const READ_ONLY: readonly string[] = ['Read']

function ruleSettings(settings: Settings, tenant: string): RuleSettings {
  const {
    default_team,
    allow_remote_sessions = false,
    fallback_tools = READ_ONLY,
    model_aliases = {},
  } = settings.of(tenant)
  return {
    allowsRemoteSessions: allow_remote_sessions,
    fallbackTools: fallback_tools,
    modelAliases: model_aliases,
    ...(default_team === undefined ? {} : { defaultTeam: default_team }),
  }
}

const SMTP_PORT = 587

async function mailServer(
  settings: Settings,
  openSecret: RuleWorkParts['openSecret'],
): Promise<MailServer | undefined> {
  const { smtp } = settings.of(MASTER_TENANT)
  if (smtp === undefined) return undefined
  const { host, port = SMTP_PORT, secure = false, from, user, password } = smtp
  return {
    ...{ host, port, secure, from },
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password: await openSecret(MASTER_TENANT, password) }),
  }
}

// From src/app/gateway and from dist/app/gateway alike.
const CLI = new URL(
  import.meta.url.endsWith('.ts') ? '../../cli/main.ts' : '../../cli/main.js',
  import.meta.url,
)

/** A further runner on this machine, with the token of its user. */
function localRunner({ edition, home }: GatewayContext, url: string | undefined) {
  if (!runsCommands(edition) || url === undefined) return undefined
  const exec = [
    process.execPath,
    fileURLToPath(CLI),
    'runner',
    '--quiet',
    '--url',
    url,
    '--token-file',
    home.token,
  ]
  return { type: 'process', exec }
}
