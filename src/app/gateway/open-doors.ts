import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { localCaller } from '../../access/caller.ts'
import { Tokens } from '../../access/tokens.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { startSpool } from '../../gateway/agents/spool.ts'
import { createDemo } from '../../gateway/demo/demo.ts'
import { methodTable } from '../../gateway/doors/call-method.ts'
import { createCapacity } from '../../gateway/doors/capacity.ts'
import type { Door } from '../../gateway/doors/door.ts'
import { createGatewayServer } from '../../gateway/doors/http/gateway-server.ts'
import { socketPath } from '../../gateway/doors/socket/socket-path.ts'
import { SocketServer } from '../../gateway/doors/socket/socket-server.ts'
import { methods } from '../../gateway/methods.ts'
import { lazyAnalyzeShell } from '../../load-shell.ts'
import type { Store } from '../../store/store.ts'
import { NO_FOLDER } from '../../stored-hooks/snapshots/event-folders.ts'
import { readHooksInForce } from './hooks/hooks-in-force.ts'
import type { GatewayContext } from './open-gateway.ts'
import { type GatewayEngine, urlOf } from './start-engine.ts'
import { publishAddress } from './storage/gateway-home.ts'
import type { GatewayStorage } from './storage/open-storage.ts'
import { findUiFolder } from './ui-folder.ts'

/** The open doors: HTTP with WebSocket and SSE, the unix socket, and the spool folder. */
export interface GatewayDoors {
  readonly url: string
  /** Path of the unix socket. */
  readonly socket: string | undefined
  /** Returns the path of a one-time login link. */
  issueLogin(): string
}

/** The whole stop may take five seconds; the doors get three of them. */
const GRACE_MS = 3_000

// Three folders up from src/app/gateway and from dist/app/gateway alike.
const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
)

export async function openDoors(
  context: GatewayContext,
  storage: GatewayStorage,
  engine: GatewayEngine,
): Promise<GatewayDoors> {
  const { options, listen, home, edition, clock, log, cleanup } = context
  const { defaultTenant } = storage
  const door = createDoor(context, storage, engine)
  const { hosts = [], origins = [] } = options
  const ui = findUiFolder()
  const server = createGatewayServer({
    door,
    listen: [listen],
    hosts,
    origins,
    ownToken: storage.adminToken.token,
    ...(ui === undefined ? {} : { ui }),
  })
  const addresses = await server.listen()
  const closers = [server.close]
  // All doors close at the same time: one after the other they would take the grace period twice.
  cleanup.add(() => Promise.all(closers.map((close) => close(GRACE_MS))))
  // Added after the doors, so it runs before they close: a waiting poll would hold its connection open.
  cleanup.add(() => engine.runs.endPolls())
  cleanup.add(() => engine.approvals.close())
  const local = await openUnixSocket(context, door, storage.holdsLock)
  if (local !== undefined) closers.push(local.close)
  engine.ownAddresses.push(...addresses.map(({ host, port }) => ({ address: host, port })))
  await engine.snapshots.of(defaultTenant)
  if (edition === 'lite') {
    await loadOwnFiles(engine, defaultTenant, log)
    const caller = localCaller(defaultTenant)
    const spool = startSpool({ folder: home.spool, agents: engine.agents, caller, clock, log })
    cleanup.add(() => spool.stop())
  }
  const [first = listen] = addresses
  const url = urlOf(first)
  cleanup.add(publishAddress(home.address, url))
  return { url, socket: local?.path, issueLogin: server.issueLogin }
}

/** Reads the files of the administrator and the user. One that is broken blocks gates, and the gateway runs to say so. */
async function loadOwnFiles({ snapshots }: GatewayEngine, tenant: string, log: Log): Promise<void> {
  try {
    await snapshots.of(tenant, NO_FOLDER)
  } catch (thrown) {
    log('security.hook.resolve_error', { tenant, error: errorText(thrown) })
  }
}

function createDoor(
  { edition, env, clock, log, cleanup }: GatewayContext,
  storage: GatewayStorage,
  engine: GatewayEngine,
): Door {
  const { secrets, settings, defaultTenant } = storage
  const { dispatcher, agents, audit, worker, runs, approvals, rules } = engine
  const { handlers, dryHandlers, host, changed, status, snapshots, nodeChanges } = engine
  const store = readAfterWrite(storage.store, audit)
  const tokens = new Tokens({ store, clock, defaultTenant })
  // Another node may have deleted one.
  cleanup.add(store.onHint(tokens.forget))
  const hookParts = {
    store,
    secrets,
    edition,
    handlers,
    dryHandlers,
    host,
    changed,
    clock,
    shell: lazyAnalyzeShell,
  }
  return {
    dispatcher,
    agents,
    methods: methodTable(methods),
    parts: {
      ...hookParts,
      settings,
      defaultTenant,
      ...readHooksInForce({ snapshots, env, edition, handlers }),
      forgetTokens: tokens.forget,
      onRecorded: audit.onWritten,
      nodeChanges,
      wakeDeliveries: worker.wake,
      demo: createDemo({
        ...hookParts,
        dispatcher,
        forgetTokens: tokens.forget,
        recorded: () => audit.flushed(),
        wakeDeliveries: worker.wake,
      }),
      runs,
      approvals,
      rules: rules.rules,
      status,
      version,
    },
    tokens,
    capacity: createCapacity({ settings, clock }),
    clock,
    log,
  }
}

/** The store for methods: reads of records and deletions of tenants wait until the audit queue has written every earlier decision. */
function readAfterWrite(store: Store, audit: GatewayEngine['audit']): Store {
  return {
    ...store,
    history: (...args) => audit.flushed().then(() => store.history(...args)),
    findEvent: (...args) => audit.flushed().then(() => store.findEvent(...args)),
    errorDetail: (...args) => audit.flushed().then(() => store.errorDetail(...args)),
    sessionEvents: (...args) => audit.flushed().then(() => store.sessionEvents(...args)),
    eventTexts: (...args) => audit.flushed().then(() => store.eventTexts(...args)),
    listSessions: (...args) => audit.flushed().then(() => store.listSessions(...args)),
    verifyAudit: () => audit.flushed().then(() => store.verifyAudit()),
    // A record that is written after the deletion would stay.
    deleteTenant: (...args) => audit.flushed().then(() => store.deleteTenant(...args)),
  }
}

/** Listens on the unix socket. Systems without user ids have none. */
async function openUnixSocket({ options, env, home }: GatewayContext, door: Door, holdsLock: boolean) {
  const uid = process.getuid?.()
  if (options.socket === false || uid === undefined) return undefined
  const folders = { home: home.folder, runtimeDir: env.XDG_RUNTIME_DIR, tempDir: tmpdir(), uid }
  const path = options.socket ?? socketPath(folders)
  const server = new SocketServer({ door, path, holdsLock, uid })
  await server.listen()
  return { path, close: (graceMs: number) => server.close(graceMs) }
}
