import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { after } from '../../engine/core/after.ts'
import { errorText } from '../../engine/core/error.ts'
import { tooSoon } from '../../engine/core/retry-after.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { agentRoute, isAgentPath } from '../agents/agent-route.ts'
import { createAdmission } from '../auth/admission.ts'
import type { Caller } from '../auth/caller.ts'
import { createLogins } from '../auth/logins.ts'
import { createSite, type ListenAddress } from '../auth/site.ts'
import type { Door } from '../door.ts'
import { pageRoutes } from '../pages/pages.ts'
import { apiRoutes, listener } from '../rest/routes.ts'
import { createWebSockets } from '../ws/websockets.ts'
import { sendError } from './answer.ts'
import { createEventRoute, dispatchRoute } from './dispatch-route.ts'
import { fewFailures } from './failure-log.ts'
import { type ConnectionLimits, connectionLimits, httpServer } from './http-server.ts'
import { answerRaw } from './raw-answer.ts'
import { checkTarget } from './target.ts'

export interface ServerOptions {
  readonly door: Door
  /** Port 0 takes any free one. */
  readonly listen: readonly ListenAddress[]
  /** Names we are called by beside the addresses we listen on. */
  readonly hosts?: readonly string[]
  /** Origins of pages, beside our own, that may call us. */
  readonly origins?: readonly string[]
  /** Directory of the web interface. */
  readonly ui?: string
  readonly limits?: Partial<ConnectionLimits>
}

/** HTTP and WebSocket. */
export interface GatewayServer {
  /** Where it listens, with the ports it really got. */
  listen(): Promise<readonly ListenAddress[]>
  /** Takes nothing new, lets what is under way finish within the time, then ends every connection. */
  close(graceMs: number): Promise<void>
  /** Path of a link that opens a session of the owner, once. */
  issueLogin(): string
}

const DISPATCH = '/v1/dispatch'
/** While ending: a connection that has its answer is kept open by its client. */
const IDLE_MS = 25

export function createServer({
  door: given,
  listen,
  hosts = [],
  origins = [],
  ui,
  limits,
}: ServerOptions): GatewayServer {
  const { clock } = given.parts
  const log = fewFailures(given.parts.log, clock)
  const door = { ...given, parts: { ...given.parts, log } }
  const { parts, methods, tokens, capacity } = door
  const site = createSite({ hosts, origins })
  const owner: Caller = {
    tenant: parts.defaultTenant,
    role: 'owner',
    master: true,
    name: 'login',
    agentId: undefined,
  }
  const logins = createLogins(clock, owner)
  const admission = createAdmission({ parts, site, tokens, logins })
  const webSockets = createWebSockets({ door, admission })
  const route = { log, admission, capacity }
  const dispatch = createEventRoute(route, dispatchRoute(parts))
  const agent = createEventRoute(route, agentRoute(parts))
  const app = new Hono<{ Bindings: HttpBindings }>()
  app.route('/', pageRoutes({ parts, admission, logins, ui }))
  app.route('/', apiRoutes({ parts, methods, admission }))
  const others = listener(app, log)
  let stopping = false

  const request = (incoming: IncomingMessage, response: ServerResponse): void => {
    if (stopping) return sendError(response, tooSoon('gateway.stopping', 'the gateway is ending', 1_000), log)
    if (incoming.url === DISPATCH && incoming.method === 'POST') return dispatch(incoming, response)
    if (incoming.method === 'POST' && isAgentPath(incoming.url)) return agent(incoming, response)
    try {
      checkTarget(incoming)
      site.check(incoming)
    } catch (thrown) {
      return sendError(response, thrown, log)
    }
    others(incoming, response).catch((thrown: unknown) => sendError(response, thrown, log))
  }

  const upgrade = async (incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    socket.on('error', () => {})
    try {
      const admitted = await admission.admit(incoming)
      if (incoming.url?.split('?')[0] !== '/ws')
        throw serverError('gateway.not_found', 'only /ws speaks WebSocket')
      if (stopping) throw tooSoon('gateway.stopping', 'the gateway is ending', 1_000)
      webSockets.upgrade(incoming, socket, head, admitted)
    } catch (thrown) {
      answerRaw(socket, thrown, { log })
    }
  }

  const served = { request, upgrade: (...call: Parameters<typeof upgrade>) => void upgrade(...call), log }
  const servers = listen.map((address) => ({
    address,
    server: httpServer(served, { ...connectionLimits, ...limits }),
  }))

  return {
    async listen() {
      const addresses = await Promise.all(servers.map(({ server, address }) => bind(server, address)))
      for (const address of addresses) site.add(address)
      return addresses
    },
    async close(graceMs) {
      stopping = true
      capacity.stop()
      const ended = Promise.all(servers.map(({ server }) => endOf(server)))
      const idle = clock.every(IDLE_MS, () => {
        for (const { server } of servers) server.closeIdleConnections()
      })
      const callOff = after(clock, graceMs, () => {
        for (const { server } of servers) server.closeAllConnections()
      })
      await Promise.all([ended, webSockets.close(graceMs)])
      idle.stop()
      callOff()
    },
    issueLogin: logins.issue,
  }
}

function bind(server: Server, { host, port }: ListenAddress): Promise<ListenAddress> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(cannotListen(error, { host, port }))
    server.once('error', refuse)
    server.listen({ host, port }, () => {
      server.off('error', refuse)
      const address = server.address()
      resolve({ host, port: typeof address === 'object' && address !== null ? address.port : port })
    })
  })
}

function cannotListen(error: NodeJS.ErrnoException, { host, port }: ListenAddress): Error {
  if (error.code === 'EADDRINUSE')
    return serverError('gateway.running', `somebody listens on port ${port} of ${host} already`, {
      hint: 'Stop it, or choose another port with --port or `listen` in config.yaml.',
    })
  return serverError('gateway.setting', `${host} port ${port} cannot be listened on: ${errorText(error)}`, {
    hint: '`listen` in config.yaml, --host and --port name an address of this machine and a port that you may use.',
    cause: error,
  })
}

/** Resolves with the last connection; idle ones are closed at once, the others with their answer. */
function endOf(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}
