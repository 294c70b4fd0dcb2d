import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Hono } from 'hono'
import { Admission } from '../../../access/admission.ts'
import { type Caller, callerWithoutToken, LOGIN } from '../../../access/caller.ts'
import { createLogins } from '../../../access/logins.ts'
import { createRevocationWatch } from '../../../access/revocation-watch.ts'
import { createSite, type ListenAddress } from '../../../access/site.ts'
import { MASTER_TENANT, OWNER_MEMBER } from '../../../access/tenant-tables.ts'
import { errorText } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import { endedWithin } from '../../../engine/core/time/after.ts'
import { tooSoon } from '../../../engine/core/time/retry-after.ts'
import { agentRoute, isAgentPath } from '../../agents/agent-route.ts'
import type { Door } from '../door.ts'
import { answerRoutes } from '../pages/answer-routes.ts'
import { pageRoutes } from '../pages/page-routes.ts'
import { type ApiEnv, apiRoutes, routeListener } from '../rest/api-routes.ts'
import { EventStreams } from '../rest/event-streams.ts'
import { createWebSockets } from '../ws/websockets.ts'
import { limitFailureLog } from './error-reply.ts'
import { createEventRoute, dispatchRoute } from './event-route.ts'
import { sendErrorReply, sendRawError } from './http-reply.ts'
import { checkTarget } from './http-request.ts'
import { type ConnectionLimits, connectionLimits, httpServer } from './http-server.ts'

export interface GatewayServerOptions {
  readonly door: Door
  /** Port 0 takes any free port. */
  readonly listen: readonly ListenAddress[]
  /** Accepted Host headers besides the listen addresses. */
  readonly hosts?: readonly string[]
  /** Accepted page origins besides the gateway's own. */
  readonly origins?: readonly string[]
  /** Directory of the web interface. */
  readonly ui?: string
  /** The owner's token, which the gateway proves to know before a client of this machine sends it. */
  readonly ownToken?: string
  readonly limits?: Partial<ConnectionLimits>
}

/** The HTTP, SSE and WebSocket server. */
export interface GatewayServer {
  /** Resolves with the addresses and the ports that the system assigned. */
  listen(): Promise<readonly ListenAddress[]>
  /** Refuses new requests, lets running ones finish within the time, then closes every connection. */
  close(graceMs: number): Promise<void>
  /** Returns the path of a link that logs the owner in, once. */
  issueLogin(): string
}

const DISPATCH = '/v1/dispatch'
/** Clients keep answered connections open; while closing, the server drops them at this interval. */
const IDLE_MS = 25

export function createGatewayServer(options: GatewayServerOptions): GatewayServer {
  const { listen, hosts = [], origins = [], limits } = options
  const { clock, capacity } = options.door
  const log = limitFailureLog(options.door.log, clock)
  const { settings } = options.door.parts
  const site = createSite({ hosts, origins, publicUrl: () => settings.of(MASTER_TENANT).public_url })
  const served = createRequestHandlers({ ...options.door, log }, site, options)
  const servers = listen.map((address) => ({
    address,
    server: httpServer({ ...served, log }, { ...connectionLimits, ...limits }),
  }))
  return {
    async listen() {
      const addresses = await Promise.all(servers.map(({ server, address }) => bind(server, address)))
      for (const address of addresses) site.add(address)
      return addresses
    },
    async close(graceMs) {
      capacity.stop()
      const closed = Promise.all([...servers.map(({ server }) => closeServer(server)), served.close(graceMs)])
      const idle = clock.every(IDLE_MS, () => {
        for (const { server } of servers) server.closeIdleConnections()
      })
      await endedWithin(clock, graceMs, closed)
      for (const { server } of servers) server.closeAllConnections()
      await closed
      idle.stop()
    },
    issueLogin: served.issueLogin,
  }
}

function createRequestHandlers(
  door: Door,
  site: ReturnType<typeof createSite>,
  { ui, ownToken }: GatewayServerOptions,
) {
  const { clock, log, capacity, parts } = door
  const logins = createLogins(clock, ownerOf(parts.defaultTenant))
  const admission = new Admission({ store: parts.store, clock, site, tokens: door.tokens, logins })
  const revocations = createRevocationWatch({ admission, tokens: door.tokens, clock, log })
  const webSockets = createWebSockets({ door, revocations })
  const streams = new EventStreams({ door, revocations })
  const dispatch = createEventRoute({ log, admission, capacity }, dispatchRoute(door))
  const agent = createEventRoute({ log, admission, capacity }, agentRoute(door))
  const app = new Hono<ApiEnv>()
  app.route('/', pageRoutes({ parts, admission, logins, ui, ownToken }))
  app.route('/', answerRoutes({ parts, admission, log }))
  app.route('/', apiRoutes({ door, admission, revocations, streams }))
  const routed = routeListener(app, log)
  let stopping = false

  async function upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => {})
    try {
      const admitted = await admission.admit(incoming)
      if (incoming.url?.split('?')[0] !== '/ws')
        throw serverError('gateway.not_found', 'only /ws accepts WebSocket connections')
      if (stopping) throw stoppingError()
      webSockets.upgrade(incoming, socket, head, admitted)
    } catch (thrown) {
      sendRawError(socket, thrown, { log })
    }
  }

  return {
    request(incoming: IncomingMessage, response: ServerResponse): void {
      if (stopping) return sendErrorReply(response, stoppingError(), log)
      if (incoming.url === DISPATCH && incoming.method === 'POST') return dispatch(incoming, response)
      if (incoming.method === 'POST' && isAgentPath(incoming.url)) return agent(incoming, response)
      try {
        checkTarget(incoming)
        site.check(incoming)
      } catch (thrown) {
        return sendErrorReply(response, thrown, log)
      }
      routed(incoming, response).catch((thrown: unknown) => sendErrorReply(response, thrown, log))
    },
    upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
      void upgrade(incoming, socket, head)
    },
    async close(graceMs: number): Promise<void> {
      stopping = true
      streams.close()
      await webSockets.close(graceMs)
      revocations.stop()
    },
    issueLogin: logins.issue,
  }
}

function stoppingError(): Error {
  return tooSoon('gateway.stopping', 'the gateway is stopping', 1_000)
}

function ownerOf(tenant: string): Caller {
  return { ...callerWithoutToken(tenant, LOGIN, 'owner'), master: true, member: OWNER_MEMBER }
}

async function bind(server: Server, { host, port }: ListenAddress): Promise<ListenAddress> {
  server.listen({ host, port })
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw cannotListen(error, { host, port })
  })
  const address = server.address()
  return { host, port: typeof address === 'object' && address !== null ? address.port : port }
}

function cannotListen(error: NodeJS.ErrnoException, { host, port }: ListenAddress): Error {
  if (error.code === 'EADDRINUSE')
    return serverError('gateway.running', `another program listens on ${host} port ${port}`, {
      hint: 'Stop it, or choose another port with --port or `listen` in config.yaml.',
    })
  return serverError('gateway.setting', `cannot listen on ${host} port ${port}: ${errorText(error)}`, {
    hint: '`listen` in config.yaml, --host and --port must name an address of this machine and a port you may use.',
    cause: error,
  })
}

/** Resolves when the last connection has closed. Idle connections close at once, the others after their response. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}
