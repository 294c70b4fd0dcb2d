import { MASTER_TENANT } from '../../../access/tenant-tables.ts'
import { findPayloadShape } from '../../../agents/table.ts'
import type { Handler, Host } from '../../../engine/core/handler.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import type { Clock } from '../../../engine/core/time/clock.ts'
import type { Edition } from '../../../engine/core/values/edition.ts'
import { createHandlers } from '../../../handlers/handlers.ts'
import type { Models } from '../../../handlers/model/models.ts'
import { type HttpRunHookParts, reportHttpRunHooks } from '../../../runs/hooks/http-run-hooks.ts'
import { createPromptAgentHost } from '../../../runs/runner/prompt-agent-host.ts'
import { createOutbound, type Outbound } from '../../../safe/outbound/outbound.ts'
import type { Listening } from '../../../safe/outbound/rules/address.ts'
import { type Secrets, secretName } from '../../../safe/secrets/secret.ts'
import { secretOpener } from '../../../secrets/config-secrets.ts'
import type { Settings } from '../../../settings/settings.ts'
import type { Store } from '../../../store/store.ts'
import { brokenHandler } from '../../../stored-hooks/snapshots/register-stand-in.ts'
import { localModels } from '../../environment.ts'
import { type Functions, functionHandler } from './function-handler.ts'
import { storeBudget, storeTurns } from './store-budget.ts'
import { tenantModels } from './tenant-models.ts'

interface GatewayHandlerParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly edition: Edition
  readonly store: Store
  readonly secrets: Secrets
  readonly settings: Settings
  readonly functions: Functions
  readonly allow: readonly string[]
  readonly dns: readonly string[] | undefined
  /** The addresses of this gateway. Hooks never call them. */
  readonly own: () => readonly Listening[]
  /** Starts an agent that has a blueprint. */
  readonly startAgent: NonNullable<Host['startAgent']>
  /** What http hooks of runs need to report. */
  readonly httpHooks: () => HttpRunHookParts
  readonly clock: Clock
  readonly log: Log
}

/** Every handler of a gateway: one set for dispatches and one for dry runs. */
export function gatewayHandlers(parts: GatewayHandlerParts): {
  handlers: readonly Handler[]
  dryHandlers: readonly Handler[]
  host: Host
  /** The models of each tenant. */
  models: Models
  /** The client of webhooks, with the rules of this gateway. */
  outbound: Outbound
  /** The value of `secret:NAME`; other texts stay as they are. */
  openSecret(tenant: string, value: string): Promise<string>
  /** Definitions of a tenant changed on this node. */
  forget(tenant: string): void
  dispose(): Promise<void>
} {
  const { env, edition, store, secrets, settings, clock, log } = parts
  const outbound = createOutbound({
    allow: allowedHosts(parts),
    own: parts.own,
    log,
    ...(parts.dns === undefined ? {} : { dns: parts.dns }),
  })
  const local = localModels(env)
  const models = tenantModels({ store, secrets, settings, fetch: outbound.fetch, local, clock })
  const decrypt = secretOpener(store, secrets)
  const shared = {
    ...{ edition, followsSession: false, outbound, models, clock, log, findPayloadShape },
    decrypt,
    headerVariable: allowedVariable(env, settings),
  }
  const budget = storeBudget({ store, settings, log })
  const live = createHandlers({ ...shared, budget, turns: storeTurns(store) })
  // A dry run shows what a command prints, asks the model without charging the tenant, and caches nothing.
  const dryRun = createHandlers({ ...shared, showsOutput: true, cache: noCache })
  const gatewayOnly = [functionHandler.create(parts.functions), brokenHandler]
  return {
    handlers: [...live.handlers.map((handler) => withRunReports(handler, parts)), ...gatewayOnly],
    dryHandlers: [...dryRun.handlers, ...gatewayOnly],
    host: namedAgentHost(createPromptAgentHost({ models, log }), parts.startAgent),
    models,
    outbound,
    openSecret: async (tenant, value) =>
      secretName(value) === undefined ? value : decrypt(value, { event: '', handler_type: '' }, tenant),
    forget: models.forget,
    async dispose() {
      await Promise.all([live.dispose(), dryRun.dispose()])
      await outbound.dispose()
    },
  }
}

/** An agent with a name has a blueprint and becomes a run; without one, a model answers the prompt of the hook. */
function namedAgentHost(
  unnamed: Required<Pick<Host, 'startAgent'>>,
  startAgent: NonNullable<Host['startAgent']>,
): Host {
  return {
    startAgent: (request, signal) =>
      request.agent_name === undefined ? unnamed.startAgent(request, signal) : startAgent(request, signal),
  }
}

function withRunReports(handler: Handler, { httpHooks }: GatewayHandlerParts): Handler {
  return handler.type === 'http' ? reportHttpRunHooks(handler, httpHooks) : handler
}

/** A variable of the gateway's environment, if an administrator allows headers to use it. */
function allowedVariable({ ...env }: GatewayHandlerParts['env'], settings: Settings) {
  return (name: string, tenant = MASTER_TENANT): string | undefined =>
    settings.of(tenant).header_variables?.includes(name) && !/^HOOKHELM_/i.test(name) ? env[name] : undefined
}

/** The hosts that config.yaml and the settings of the master tenant allow. */
function allowedHosts({ allow, settings }: GatewayHandlerParts): () => readonly string[] {
  let set: readonly string[] | undefined
  let all = allow
  return () => {
    const { allowed_hosts } = settings.of(MASTER_TENANT)
    if (allowed_hosts === set) return all
    set = allowed_hosts
    all = [...allow, ...(set ?? [])]
    return all
  }
}

const noCache = { get: () => undefined, set: () => {} }
