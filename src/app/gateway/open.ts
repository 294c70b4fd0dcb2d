import { readFileSync } from 'node:fs'
import { startDeliveries } from '../../delivery/delivery-worker.ts'
import { type Clock, systemClock } from '../../engine/core/clock.ts'
import type { Edition } from '../../engine/core/edition.ts'
import type { Log } from '../../engine/core/sink.ts'
import { createAgentDoor } from '../../gateway/agents/agent-door.ts'
import { startSpool } from '../../gateway/agents/spool.ts'
import { createAuditQueue } from '../../gateway/audit/queue.ts'
import { localCaller } from '../../gateway/auth/caller.ts'
import { seedBuiltins } from '../../gateway/builtins/seed.ts'
import { deliverHook } from '../../gateway/dispatch/deliver-hook.ts'
import { createDispatcher } from '../../gateway/dispatch/dispatcher.ts'
import { HOOK_DELIVERY } from '../../gateway/dispatch/hook-delivery.ts'
import { createDoor } from '../../gateway/door.ts'
import { methods } from '../../gateway/methods/table.ts'
import type { GatewayParts } from '../../gateway/parts.ts'
import { createServer } from '../../gateway/server/server.ts'
import type { SettingValues } from '../../gateway/settings.ts'
import { cacheSettings } from '../../gateway/settings-cache.ts'
import { followDefinitions } from '../../gateway/tenancy/follow.ts'
import { createSnapshots, type Snapshots } from '../../gateway/tenancy/snapshots.ts'
import type { Listening } from '../../safe/outbound/rules/address.ts'
import { createSecrets } from '../../safe/secret.ts'
import type { Store } from '../../store/store.ts'
import { tellAddress } from './address-file.ts'
import { disableCommands } from './edition-gate.ts'
import { adminToken, defaultTenant, refuseExposed } from './first-start.ts'
import { folderHooks } from './folder-hooks.ts'
import type { Functions } from './function-handler.ts'
import { gatewayHandlers } from './gateway-handlers.ts'
import { homeOf, makeHome } from './home.ts'
import { keyUses } from './key-uses.ts'
import { openWithKeys } from './keyring.ts'
import { type LocalSocket, listenLocally } from './local-socket.ts'
import { takeLock } from './lock.ts'
import { isPostgres, openStore } from './open-store.ts'
import { startOtlp } from './otlp.ts'
import { readsAfter } from './reads-after.ts'
import { deliveryHealth, fileHealth, hookHealth, storeHealth } from './status-parts.ts'
import { tenantHooks } from './tenant-hooks.ts'
import { Undo } from './undo.ts'
import { startUpkeep } from './upkeep.ts'

export interface GatewayOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly listen?: { readonly host: string; readonly port: number }
  /** Path of the unix socket; `false` for none. */
  readonly socket?: string | false
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
  /** `postgres://…`; an embedded database in the data folder otherwise. */
  readonly database?: string
  readonly edition?: Edition
  readonly outbound?: { readonly allow?: readonly string[]; readonly dns?: readonly string[] }
  readonly settings?: SettingValues
  /** Functions for hooks of type `function`. */
  readonly functions?: Functions
  /** Puts something between the gateway and its store: the faulty one of `hookhelm/testing`, for instance. */
  readonly aroundStore?: (store: Store) => Store
  readonly clock?: Clock
  readonly log?: Log
}

/** A gateway that runs. */
export interface Gateway {
  readonly url: string
  readonly socket: string | undefined
  /** Of the owner. */
  readonly token: string
  readonly defaultTenant: string
  /** Opens a session in a browser, once. */
  loginLink(): string
  /** Takes nothing new, finishes what was begun, and lets everything go. */
  close(): Promise<void>
}

const DEFAULT_LISTEN = { host: '127.0.0.1', port: 4665 }
/** Of the five seconds that ending may take. */
const GRACE_MS = 3_000
/** A receiver that hangs must not keep us: its delivery is taken up again. */
const DELIVERY_GRACE_MS = 500

// Three folders up, whether this is src/app/gateway or dist/app/gateway.
const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
)

/** Starts a gateway, or fails with a coded error and leaves nothing behind. */
export async function openGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { log = () => {} } = options
  const undo = new Undo(log)
  try {
    return await open(options, undo)
  } catch (thrown) {
    await undo.all()
    throw thrown
  }
}

async function open(options: GatewayOptions, undo: Undo): Promise<Gateway> {
  const { env = process.env, edition = 'lite', clock = systemClock, log = () => {} } = options
  const home = homeOf(env)
  makeHome(home)
  const listen = options.listen ?? DEFAULT_LISTEN
  refuseExposed(listen.host, home)
  const database = options.database ?? home.database
  // Whoever holds it may remove the socket that a killed gateway left behind.
  const holdsLock = !isPostgres(database) || options.socket !== false
  if (holdsLock) {
    const lock = takeLock(home.lock)
    undo.add(() => lock.release())
  }
  const { aroundStore = (opened) => opened } = options
  const { store, keyring } = await openWithKeys({ home, env, database }, async (keys) =>
    aroundStore(await openStore({ database, keyring: keys, edition, log })),
  )
  undo.add(() => store.close())
  const secrets = createSecrets(keyring, { log, used: await store.addKeyUses({}) })
  const uses = keyUses(secrets, store)
  undo.add(() => uses.keep())

  const tenant = await defaultTenant(store, edition, clock)
  const token = await adminToken(home.token, store, clock)
  await disableCommands(store, edition, { clock, log })
  await seedBuiltins({ store, clock, log })
  const settings = await cacheSettings(store, options.settings ?? {})

  const own: Listening[] = []
  const { handlers, dryHandlers, host, forget, dispose } = gatewayHandlers({
    env,
    edition,
    store,
    secrets,
    settings,
    functions: options.functions ?? {},
    allow: options.outbound?.allow ?? [],
    dns: options.outbound?.dns,
    own: () => own,
    clock,
    log,
  })
  undo.add(dispose)

  // Before the records, whose last group is told as spans too.
  const otlp = await startOtlp(env)
  if (otlp !== undefined) undo.add(() => otlp.stop())
  const audit = createAuditQueue({ store, clock, log })
  undo.add(() => audit.close())
  const snapshots: Snapshots = createSnapshots({
    store,
    settings,
    makeHooks: (name, placeOf) => makeHooks(name, placeOf),
    ...(edition === 'lite' ? { attachFiles: folderHooks({ env, handlers, log }) } : {}),
  })
  undo.add(() => snapshots.close())
  const wakeDeliveries = () => worker.wake()
  const dispatcher = createDispatcher({ store, snapshots, settings, audit, clock, log, wakeDeliveries })
  const makeHooks = tenantHooks({
    store,
    handlers,
    host,
    settings,
    changed: (name) => snapshots.refresh(name),
    clock,
    log,
  })
  const follow = await followDefinitions({ store, snapshots, clock, log })
  undo.add(() => follow.stop())
  const worker = startDeliveries({ store, kinds: { [HOOK_DELIVERY]: deliverHook(dispatcher) }, clock, log })
  undo.add(() => worker.stop(DELIVERY_GRACE_MS))
  const upkeep = startUpkeep({ store, settings, uses, clock, log })
  undo.add(() => upkeep.stop())

  const agents = createAgentDoor({ dispatcher, clock, log })
  const parts: GatewayParts = {
    store: readsAfter(store, audit),
    dispatcher,
    agents,
    secrets,
    settings,
    edition,
    defaultTenant: tenant,
    handlers,
    dryHandlers,
    host,
    changed(name, change) {
      forget(name)
      return change === undefined ? snapshots.refresh(name) : snapshots.applyChange(name, change)
    },
    forgetTokens: () => door.tokens.forget(),
    onRecorded: audit.onWritten,
    wakeDeliveries,
    status: [
      storeHealth(store, clock),
      follow.status,
      hookHealth(snapshots),
      fileHealth(snapshots),
      audit.status,
      deliveryHealth(() => worker),
    ],
    clock,
    log,
    version,
  }
  const door = createDoor({ parts, methods })
  const server = createServer({
    door,
    listen: [listen],
    hosts: options.hosts ?? [],
    origins: options.origins ?? [],
  })
  const addresses = await server.listen()
  let local: LocalSocket | undefined
  // Together: one after the other they would take twice the time.
  undo.add(() => Promise.all([server.close(GRACE_MS), local?.close(GRACE_MS)]))
  local = await listenLocally(options.socket, { door, env, holdsLock })
  own.push(...addresses.map((address) => ({ address: address.host, port: address.port })))
  await snapshots.of(tenant)
  if (edition === 'lite') {
    const spool = startSpool({ folder: home.spool, agents, caller: localCaller(tenant), clock, log })
    undo.add(() => spool.stop())
  }
  const [first = listen] = addresses
  const url = `http://${first.host.includes(':') ? `[${first.host}]` : first.host}:${first.port}`
  undo.add(tellAddress(home.address, url))
  return {
    url,
    socket: local?.path,
    token,
    defaultTenant: tenant,
    loginLink: () => `${url}${server.issueLogin()}`,
    close: () => undo.all(),
  }
}
