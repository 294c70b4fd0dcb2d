import type { ListenAddress } from '../../access/site.ts'
import { type ApprovalSteps, createApprovalSteps } from '../../approvals/approval-steps.ts'
import { Approvals } from '../../approvals/approvals.ts'
import { type DeliverWork, DeliveryWorker } from '../../deliveries/delivery-worker.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Handler, Host } from '../../engine/core/handler.ts'
import { createListeners } from '../../engine/core/values/listeners.ts'
import { AgentDoor } from '../../gateway/agents/agent-door.ts'
import { createDispatcher, type EventDispatcher } from '../../gateway/dispatch.ts'
import type { Door } from '../../gateway/doors/door.ts'
import type { Models } from '../../handlers/model/models.ts'
import { AuditQueue } from '../../history/record/audit-queue.ts'
import { trustFile } from '../../hook-files/hook-folders.ts'
import { createTouchedFolders } from '../../hook-files/touched-folders.ts'
import { trustStore } from '../../hook-files/trust.ts'
import type { StatusPart } from '../../methods/status-part.ts'
import { deliverHook, HOOK_DELIVERY } from '../../pipeline/hook-delivery.ts'
import type { Coordinator } from '../../runs/coordinator.ts'
import type { Listening } from '../../safe/outbound/rules/address.ts'
import { createEventFolders } from '../../stored-hooks/snapshots/event-folders.ts'
import { followDefinitions } from '../../stored-hooks/snapshots/follow-definitions.ts'
import { createNodeChanges, type NodeChanges } from '../../stored-hooks/snapshots/node-changes.ts'
import { createSessionFolders, type SessionFolders } from '../../stored-hooks/snapshots/session-folders.ts'
import { type HookChange, Snapshots } from '../../stored-hooks/snapshots/snapshots.ts'
import { localShell } from '../local-shell.ts'
import { startBlueprintFiles } from './blueprint-files.ts'
import { approvalHealth, deliveryHealth, fileHealth, hookHealth, storeHealth } from './gateway-status.ts'
import { folderHooks } from './hooks/folder-hooks.ts'
import { gatewayHandlers } from './hooks/gateway-handlers.ts'
import { tenantHooks } from './hooks/tenant-hooks.ts'
import type { GatewayContext } from './open-gateway.ts'
import { startOtlp } from './otlp.ts'
import { type GatewayRules, openRules, ruleDeliveries } from './start-rules.ts'
import { startRuns } from './start-runs.ts'
import { startMaintenance } from './storage/maintenance.ts'
import type { GatewayStorage } from './storage/open-storage.ts'

/** The running engine: it decides events, records them and delivers to observers. */
export interface GatewayEngine extends Pick<Door, 'dispatcher' | 'agents'> {
  readonly handlers: readonly Handler[]
  readonly dryHandlers: readonly Handler[]
  readonly host: Host
  readonly models: Models
  readonly audit: AuditQueue
  readonly worker: DeliveryWorker
  readonly runs: Coordinator
  readonly approvals: Approvals
  readonly rules: GatewayRules
  readonly snapshots: Snapshots
  readonly nodeChanges: NodeChanges
  readonly status: readonly StatusPart[]
  /** Makes the next dispatch of the tenant use its changed definitions, providers and settings. */
  changed(tenant: string, change?: HookChange): Promise<void>
  /** The addresses of the gateway itself, which hooks must not call. The doors add them when they listen. */
  readonly ownAddresses: Listening[]
}

/** A receiver that hangs must not delay the stop: its delivery is claimed again later. */
const DELIVERY_GRACE_MS = 500

/** Long because it lists the parts of the engine in the order in which they start, which `cleanup` reverses. */
export async function startEngine(context: GatewayContext, storage: GatewayStorage): Promise<GatewayEngine> {
  const { env, clock, log, cleanup } = context
  const { store } = storage
  const ownAddresses: Listening[] = []
  let runs: Coordinator | undefined
  const { forget, dispose, outbound, openSecret, ...runners } = openHandlers(context, storage, {
    own: () => ownAddresses,
    startAgent: (request, signal) => requireStarted(runs).startAgent(request, signal),
    httpHooks: () => requireStarted(runs).httpHooks,
  })
  cleanup.add(dispose)
  // Started before the audit queue and stopped after it, because the last group of records also becomes spans.
  const otlp = await startOtlp(env)
  if (otlp !== undefined) cleanup.add(() => otlp.stop())
  const audit = new AuditQueue({ store, clock, log })
  cleanup.add(() => audit.close())
  const due = createListeners()
  const wakeDeliveries = () => void due.notify()
  const nodeChanges = createNodeChanges()
  cleanup.add(store.onHint(nodeChanges.notify))
  const sessionFolders = createSessionFolders(store, clock)
  const rules = openRules(context, storage)
  const steps = createApprovalSteps(audit, clock)
  const approvals = new Approvals({
    ...{ store, steps },
    changed: () => nodeChanges.notify(),
    wakeDeliveries,
    clock,
    log,
  })
  cleanup.add(() => approvals.close())
  await store.releaseApprovals()
  const { snapshots, dispatcher } = createDispatch(context, storage, {
    ...runners,
    ...{ rules, audit, approvals, steps, nodeChanges, sessionFolders },
    wakeDeliveries,
  })
  runs = startRuns(context, storage, { snapshots, dispatcher })
  const kinds = ruleDeliveries(context, storage, {
    ...{ handlers: runners.handlers, host: runners.host, outbound, audit, openSecret },
    runs: () => requireStarted(runs),
    ownUrl: () => ownUrl(ownAddresses),
    changed: () => nodeChanges.notify(),
    wakeDeliveries,
  })
  const { follow, worker } = await startWorkers(context, storage, { snapshots, dispatcher, rules, kinds })
  due.on(worker.wake)
  const changed: GatewayEngine['changed'] = async (tenant, change) => {
    forget(tenant)
    rules.rules.forget(tenant)
    await (change === undefined ? snapshots.refresh(tenant) : snapshots.applyChange(tenant, change))
    nodeChanges.notify()
  }
  const { edition } = context
  const files = { store, edition, settings: storage.settings, changed, tenant: storage.defaultTenant }
  const agentFiles = edition === 'lite' ? [await startBlueprintFiles(context, files)] : []
  return {
    ...runners,
    dispatcher,
    agents: new AgentDoor({
      ...{ dispatcher, sessionFolders, clock, log },
      runs: runs.ofCodingAgents,
      runOfTrigger: async (tenant, session) =>
        rules.triggers.isEnabled(tenant)
          ? store.findRunOfExecutor(tenant, session).catch((thrown: unknown) => {
              // The event is decided without it.
              log('rules.trigger_failed', { tenant, error: errorText(thrown) })
              return undefined
            })
          : undefined,
    }),
    audit,
    worker,
    runs,
    approvals,
    rules,
    snapshots,
    nodeChanges,
    status: [
      storeHealth(store, clock),
      follow.status,
      hookHealth(snapshots, clock),
      fileHealth(snapshots, edition),
      ...agentFiles,
      audit.status,
      deliveryHealth(worker),
      rules.status,
      approvalHealth(storage, () => ownUrl(ownAddresses)),
    ],
    changed,
    ownAddresses,
  }
}

/** What runs in the background: changes of other nodes, deliveries, and hourly maintenance. */
async function startWorkers(
  { clock, log, cleanup }: GatewayContext,
  { store, settings, keyUses }: GatewayStorage,
  { snapshots, dispatcher, rules, kinds: ruleKinds }: WorkerParts,
) {
  const followed = {
    refresh(tenant: string, version?: number) {
      rules.rules.forget(tenant)
      return snapshots.refresh(tenant, version)
    },
  }
  const follow = await followDefinitions({ store, snapshots: followed, clock, log })
  cleanup.add(() => follow.stop())
  const kinds = { [HOOK_DELIVERY]: deliverHook(dispatcher.deliver), ...ruleKinds }
  const worker = new DeliveryWorker({ store, kinds, clock, log })
  cleanup.add(() => worker.stop(DELIVERY_GRACE_MS))
  const maintenance = startMaintenance({ store, settings, keyUses, clock, log })
  cleanup.add(() => maintenance.stop())
  return { follow, worker }
}

function openHandlers(
  { options, env, edition, clock, log }: GatewayContext,
  { store, secrets, settings }: GatewayStorage,
  later: Pick<Parameters<typeof gatewayHandlers>[0], 'own' | 'startAgent' | 'httpHooks'>,
) {
  return gatewayHandlers({
    env,
    edition,
    store,
    secrets,
    settings,
    functions: options.functions ?? {},
    allow: options.outbound?.allow ?? [],
    dns: options.outbound?.dns,
    ...later,
    clock,
    log,
  })
}

/** The address of the gateway, once it listens. */
function ownUrl([first]: readonly Listening[]): string | undefined {
  return first && urlOf({ host: first.address, port: first.port })
}

export function urlOf({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Agents start only while hooks run, and hooks run only after the whole engine has started. */
function requireStarted(runs: Coordinator | undefined): Coordinator {
  if (runs === undefined) throw serverError('gateway.stopping', 'the gateway is starting')
  return runs
}

export interface HookDispatch {
  readonly snapshots: Snapshots
  readonly dispatcher: EventDispatcher
}

interface WorkerParts extends HookDispatch {
  readonly rules: GatewayRules
  readonly kinds: Readonly<Record<string, DeliverWork>>
}

interface DispatchParts
  extends Pick<GatewayEngine, 'handlers' | 'host' | 'audit' | 'nodeChanges' | 'approvals'> {
  readonly steps: ApprovalSteps
  readonly sessionFolders: SessionFolders
  readonly rules: GatewayRules
  wakeDeliveries(): void
}

/** The hooks of every tenant, and the dispatcher that sends events through them. */
function createDispatch(
  { env, edition, clock, log, cleanup }: GatewayContext,
  { store, settings, defaultTenant }: GatewayStorage,
  { handlers, host, nodeChanges, sessionFolders, rules, ...parts }: DispatchParts,
): HookDispatch {
  const definitionsChanged = createListeners<string>()
  const makeHooks = tenantHooks({
    store,
    handlers,
    host,
    settings,
    changed: definitionsChanged.notify,
    clock,
    log,
  })
  const onLoad = () => nodeChanges.notifyHookLoad()
  const trust = trustStore(trustFile(env))
  const files = edition === 'lite' ? { attachFiles: folderHooks({ env, handlers, trust, log, onLoad }) } : {}
  const onReload = nodeChanges.notifyHookLoad
  const snapshots = new Snapshots({ store, settings, makeHooks, onReload, ...files })
  definitionsChanged.on((tenant) => snapshots.refresh(tenant))
  definitionsChanged.on(nodeChanges.notify)
  cleanup.add(() => snapshots.close())
  const dispatcher = createDispatcher({
    store,
    ...{ ...parts, snapshots, settings, clock, log },
    eventFolders: createEventFolders({ edition, defaultTenant }, sessionFolders),
    touchedFolders: createTouchedFolders({ analyze: localShell, trust }),
    rules: rules.triggers,
  })
  return { snapshots, dispatcher }
}
