import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { errorText, HookError, isHookError } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { createOutbound, type Outbound } from '../../safe/outbound/outbound.ts'
import { readUrl } from '../../safe/outbound/rules/url.ts'
import type { McpSession, McpSessionOptions } from '../mcp-session.ts'
import { type Packet, readPacket, rpcCodes, rpcErrorText } from '../messages/packet.ts'
import {
  deliverAnswer,
  type Exchange,
  failExchange,
  headersForServer,
  readBytes,
  readOwnResponse,
} from './exchange.ts'
import { HttpReply } from './http-reply.ts'
import { ProxySessions } from './proxy-sessions.ts'
import { checkRequestHeaders, headersForMethod, principalOf, withHeaderChanges } from './request-headers.ts'

export interface HttpProxyOptions extends McpSessionOptions {
  readonly listen: { readonly host: string; readonly port: number }
  /** The address of the server. The user chose it, so it may be in a private network. */
  readonly to: string
}

export interface HttpProxy {
  readonly url: string
  close(): Promise<void>
}

const MAX_BODY = 16 * 1_048_576
const SESSION = 'mcp-session-id'
/** With another charset the server could read another text than we do. */
const PLAIN_JSON = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i

/** Opens a proxy in front of a server that speaks Streamable HTTP. */
export async function openHttpProxy(options: HttpProxyOptions): Promise<HttpProxy> {
  checkLoopback(options.listen.host)
  const to = readUrl(options.to)
  const own: { address: string; port: number }[] = []
  const outbound = createOutbound({
    allow: [to.host],
    own: () => own,
    // An event stream is endless. What the proxy holds in memory has its own limits.
    maxBytes: Number.MAX_SAFE_INTEGER,
    connections: 256,
  })
  const proxy = new HttpProxyServer(to, outbound, new ProxySessions(options))
  const server = createServer(
    { maxHeaderSize: 32_768, headersTimeout: 10_000, requestTimeout: 60_000, requireHostHeader: true },
    (request, response) => void proxy.answer(request, response),
  )
  const address = await bind(server, options.listen)
  own.push(address)
  const host = address.address.includes(':') ? `[${address.address}]` : address.address
  return {
    url: `http://${host}:${address.port}${to.pathname}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
      await proxy.close()
      await outbound.dispose()
    },
  }
}

class HttpProxyServer {
  readonly #to: URL
  readonly #outbound: Outbound
  readonly #sessions: ProxySessions

  constructor(to: URL, outbound: Outbound, sessions: ProxySessions) {
    this.#to = to
    this.#outbound = outbound
    this.#sessions = sessions
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = new HttpReply(response)
    try {
      checkCaller(request)
      if (request.url?.split('?')[0] !== this.#to.pathname)
        return refuse(reply, 404, 'this path does not exist')
      if (request.method === 'POST') await this.#post(request, reply)
      else if (request.method === 'GET') await this.#get(request, reply)
      else if (request.method === 'DELETE') await this.#delete(request, reply)
      else refuse(reply, 405, 'only POST, GET and DELETE are allowed')
    } catch (thrown) {
      if (!reply.isStream) refuse(reply, statusOf(thrown), errorText(thrown))
      else reply.end()
    }
  }

  close(): Promise<void> {
    return this.#sessions.endAll()
  }

  async #post(request: IncomingMessage, reply: HttpReply): Promise<void> {
    if (!PLAIN_JSON.test(request.headers['content-type'] ?? ''))
      return refuse(reply, 415, 'the content type must be application/json in UTF-8')
    const packet = readPacket(await bodyOf(request))
    const refused = packet.kind === 'refused' ? packet : checkRequestHeaders(request.headers, packet)
    if (packet.kind === 'refused' || refused !== undefined)
      return refused?.answer === undefined ? reply.body(202, '') : reply.json(400, refused.answer)
    const session = this.#sessionOf(request, packet)
    // The MCP standard makes clients start a new session after a 404.
    if (session === undefined) return refuse(reply, 404, 'this session is unknown')
    const send = acceptsEvents(request) ? (text: string) => reply.event(text) : undefined
    const channel = {
      signal: reply.closed,
      principal: principalOf(request.headers),
      sendToServer: (text: string) => void this.#askServer(request, text, { session, reply }),
      ...definedFields({ send }),
    }
    const admitted = await session.admit(packet, channel)
    const exchange = { session, reply, packet, admitted }
    if (admitted.forward !== undefined) return this.#forward(request, admitted.forward, exchange)
    if (reply.isStream) {
      if (admitted.answer !== undefined) reply.event(admitted.answer)
      reply.end()
    } else if (admitted.answer === undefined) reply.body(202, '')
    else reply.json(200, admitted.answer)
  }

  #sessionOf({ headers }: IncomingMessage, { items }: Packet): McpSession | undefined {
    const id = headers[SESSION]?.toString()
    const envelope = items.map((item) => ('envelope' in item ? item.envelope : undefined)).at(0)
    if (envelope !== undefined)
      return this.#sessions.forCaller(
        JSON.stringify([envelope.agent, envelope.version, principalOf(headers)]),
      )
    if (id === undefined && items.some(({ kind }) => kind === 'initialize')) return this.#sessions.begin()
    return this.#sessions.find(id)
  }

  async #get(request: IncomingMessage, reply: HttpReply): Promise<void> {
    const session = this.#sessions.find(request.headers[SESSION]?.toString()) ?? this.#sessions.begin()
    await this.#forward(request, undefined, { session, reply })
  }

  async #delete(request: IncomingMessage, reply: HttpReply): Promise<void> {
    const id = request.headers[SESSION]?.toString()
    const session = this.#sessions.find(id) ?? this.#sessions.begin()
    await this.#forward(request, undefined, { session, reply })
    await this.#sessions.end(id)
  }

  /** Sends a request of the proxy itself. The client does not see the response. */
  async #askServer(request: IncomingMessage, text: string, { session, reply }: Exchange): Promise<void> {
    try {
      const answer = await this.#outbound.fetch(this.#to, {
        method: 'POST',
        headers: headersForMethod(headersForServer(request.headers), 'server/discover'),
        signal: reply.closed,
        body: text,
      })
      await readOwnResponse(answer, session)
    } catch (thrown) {
      session.failOwnRequests(errorText(thrown))
    }
  }

  async #forward(request: IncomingMessage, body: Buffer | undefined, exchange: Exchange): Promise<void> {
    try {
      const answer = await this.#outbound.fetch(this.#to, {
        method: request.method ?? 'GET',
        headers: withHeaderChanges(headersForServer(request.headers), exchange.admitted?.headers),
        signal: exchange.reply.closed,
        ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      })
      if (exchange.packet?.items.some(({ kind }) => kind === 'initialize') && answer.ok)
        this.#sessions.keep(answer.headers.get(SESSION) ?? undefined, exchange.session)
      await deliverAnswer(answer, exchange)
    } catch (thrown) {
      failExchange(thrown, exchange)
    }
  }
}

function refuse(reply: HttpReply, status: number, why: string): void {
  reply.json(status, rpcErrorText(null, rpcCodes.gone, why))
}

function statusOf(thrown: unknown): number {
  if (!isHookError(thrown)) return 500
  if (thrown.code === 'auth.host' || thrown.code === 'auth.origin') return 403
  return thrown.code === 'input.too_large' ? 413 : 400
}

function acceptsEvents({ headers }: IncomingMessage): boolean {
  return /\btext\/event-stream\b/i.test(headers.accept ?? '')
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = () => new HookError('input.too_large', `a message has more than ${MAX_BODY} bytes`)
  // Refuse before reading: the client may read the response only then.
  if (Number(request.headers['content-length']) > MAX_BODY) throw tooLarge()
  return readBytes(request, MAX_BODY, tooLarge)
}

function bind(
  server: Server,
  { host, port }: HttpProxyOptions['listen'],
): Promise<{ address: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(serverError('gateway.setting', `${host} port ${port} cannot be used: ${errorText(error)}`)),
    )
    server.listen({ host, port }, () => {
      const address = server.address()
      if (typeof address === 'object' && address !== null) resolve(address)
    })
  })
}

/** Names that always mean this machine. */
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|localhost|::1)$/i

/** The proxy has no authentication, so only this machine may reach it. */
function checkLoopback(host: string): void {
  if (LOOPBACK.test(host)) return
  throw serverError('gateway.exposed', `${host} can be reached from the network`, {
    hint: 'Listen on 127.0.0.1, and start a proxy on every machine that needs one.',
  })
}

/**
 * Throws for requests of web pages and for unknown host names. A page could let its own host name resolve to this
 * machine (DNS rebinding) and would then have the same origin as the proxy.
 */
function checkCaller({ headers, socket }: IncomingMessage): void {
  const host = headers.host?.toLowerCase() ?? ''
  const names = ['localhost', '127.0.0.1', '[::1]', socket.localAddress ?? '']
  const port = socket.localPort === 80 ? /(?::80)?$/ : new RegExp(`:${socket.localPort}$`)
  if (!port.test(host) || !names.includes(host.replace(port, '')))
    throw serverError('auth.host', 'the proxy does not answer to this host name', { hint: 'Use 127.0.0.1.' })
  if (headers.origin !== undefined && headers.origin.toLowerCase() !== `http://${host}`)
    throw serverError('auth.origin', 'web pages may not use the proxy', {
      hint: 'Only programs on this machine may use the proxy.',
    })
}
