import type { Clock } from '../../engine/core/clock.ts'
import type { Edition } from '../../engine/core/edition.ts'
import type { Handler, Host } from '../../engine/core/handler.ts'
import type { Log } from '../../engine/core/sink.ts'
import { secretOpener } from '../../gateway/hooks/secret-opener.ts'
import type { Settings } from '../../gateway/settings.ts'
import { brokenHandler } from '../../gateway/tenancy/snapshot.ts'
import { createAgentHandler } from '../../handlers/agent/agent.ts'
import { createAgentHost } from '../../handlers/agent/agent-host.ts'
import { createCommandHandler } from '../../handlers/command/command.ts'
import { createHttpHandler } from '../../handlers/http/http.ts'
import { createPromptHandler } from '../../handlers/prompt/prompt.ts'
import { createScriptHandler } from '../../handlers/script/script.ts'
import { createOutbound } from '../../safe/outbound/outbound.ts'
import type { Listening } from '../../safe/outbound/rules/address.ts'
import type { Secrets } from '../../safe/secret.ts'
import type { Store } from '../../store/store.ts'
import { MASTER_TENANT } from '../../store/stores/tenant-store.ts'
import { localModels } from '../environment.ts'
import { type Functions, functionHandler } from './function-handler.ts'
import { storeBudget, storeTurns } from './store-budget.ts'
import { tenantModels } from './tenant-models.ts'

interface HandlerParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly edition: Edition
  readonly store: Store
  readonly secrets: Secrets
  readonly settings: Settings
  readonly functions: Functions
  readonly allow: readonly string[]
  readonly dns: readonly string[] | undefined
  /** Where we listen ourselves; hooks never call that. */
  readonly own: () => readonly Listening[]
  readonly clock: Clock
  readonly log: Log
}

/** Every handler of a gateway, once as dispatches use it and once for dry runs. */
export function gatewayHandlers(parts: HandlerParts): {
  handlers: readonly Handler[]
  dryHandlers: readonly Handler[]
  host: Host
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
  const command = createCommandHandler({ edition, followsSession: false })
  const http = createHttpHandler({ outbound, decrypt: secretOpener(store, secrets) })
  const script = createScriptHandler()
  const agent = createAgentHandler({ models, log })
  const budget = storeBudget({ store, settings, clock, log })
  const prompt = createPromptHandler({ models, budget, turns: storeTurns(store), clock, log })
  const shared = [http, agent, script, functionHandler(parts.functions), brokenHandler]
  const shown = createCommandHandler({ edition, followsSession: false, showsOutput: true })
  return {
    handlers: [...shared, command, prompt],
    // A dry run shows what a command prints, and asks the model, but charges nobody and remembers nothing.
    dryHandlers: [...shared, shown, createPromptHandler({ models, clock, log, cache: noCache })],
    host: createAgentHost({ models, log }),
    forget: models.forget,
    async dispose() {
      await prompt.reconcile()
      await Promise.all([
        command.dispose(),
        shown.dispose(),
        http.dispose(),
        script.dispose(),
        outbound.dispose(),
      ])
    },
  }
}

/** What config.yaml allows, and what the master scope has allowed since. */
function allowedHosts({ allow, settings }: HandlerParts): () => readonly string[] {
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
