import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { errorText, HookError, isHookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { createOutbound, type Outbound } from '../../safe/outbound/outbound.ts'
import { readUrl } from '../../safe/outbound/rules/url.ts'
import { rpcCodes, rpcErrorText } from '../rpc/answer.ts'
import { type Packet, readPacket } from '../rpc/packet.ts'
import type { Session, SessionOptions } from '../session.ts'
import { deliverAnswer, type Exchange, failExchange } from './exchange.ts'
import { headersForServer } from './headers.ts'
import { checkCaller, checkLoopback } from './own-name.ts'
import { HttpReply } from './reply.ts'
import { ProxySessions } from './sessions.ts'

export interface HttpProxyOptions extends SessionOptions {
  readonly listen: { readonly host: string; readonly port: number }
  /** The server. Its host is our user's own choice, and may well be an inner one. */
  readonly to: string
}

export interface HttpProxy {
  readonly url: string
  close(): Promise<void>
}

const MAX_BODY = 16 * 1_048_576
const SESSION = 'mcp-session-id'
/** In another encoding the server could read something else than we do. */
const PLAIN_JSON = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i

/** Stands in front of a server that speaks Streamable HTTP. */
export async function openHttpProxy(options: HttpProxyOptions): Promise<HttpProxy> {
  checkLoopback(options.listen.host)
  const to = readUrl(options.to)
  const own: { address: string; port: number }[] = []
  const outbound = createOutbound({
    allow: [to.host],
    own: () => own,
    // A stream of events has no end; what must be held in memory has limits of its own.
    maxBytes: Number.MAX_SAFE_INTEGER,
    connections: 256,
  })
  const proxy = new Door(to, outbound, new ProxySessions(options))
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

class Door {
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
      if (request.url?.split('?')[0] !== this.#to.pathname) return refuse(reply, 404, 'there is nothing here')
      if (request.method === 'POST') await this.#post(request, reply)
      else if (request.method === 'GET') await this.#get(request, reply)
      else if (request.method === 'DELETE') await this.#delete(request, reply)
      else refuse(reply, 405, 'POST, GET and DELETE are what a client sends')
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
    if (packet.kind === 'refused')
      return packet.answer === undefined ? reply.body(202, '') : reply.json(400, packet.answer)
    const session = this.#sessionOf(request, packet)
    // What the standard has clients begin a new session at.
    if (session === undefined) return refuse(reply, 404, 'this session is not known here')
    const send = acceptsEvents(request) ? (text: string) => reply.event(text) : undefined
    const link = { signal: reply.left, ...(send === undefined ? {} : { send }) }
    const admitted = await session.admit(packet, link)
    const exchange = { session, reply, packet, admitted }
    if (admitted.forward !== undefined) return this.#forward(request, admitted.forward, exchange)
    if (reply.isStream) {
      if (admitted.answer !== undefined) reply.event(admitted.answer)
      reply.end()
    } else if (admitted.answer === undefined) reply.body(202, '')
    else reply.json(200, admitted.answer)
  }

  #sessionOf({ headers }: IncomingMessage, { items }: Packet): Session | undefined {
    const id = headers[SESSION]?.toString()
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

  async #forward(request: IncomingMessage, body: Buffer | undefined, exchange: Exchange): Promise<void> {
    try {
      const answer = await this.#outbound.fetch(this.#to, {
        method: request.method ?? 'GET',
        headers: headersForServer(request.headers),
        signal: exchange.reply.left,
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
  const chunks: Buffer[] = []
  let size = 0
  // Said before it is read, so that the refusal arrives.
  if (Number(request.headers['content-length']) > MAX_BODY) throw tooLarge()
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function tooLarge(): HookError {
  return new HookError('input.too_large', `a message has more than ${MAX_BODY} bytes`)
}

function bind(
  server: Server,
  { host, port }: HttpProxyOptions['listen'],
): Promise<{ address: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        serverError('gateway.setting', `${host} port ${port} cannot be listened on: ${errorText(error)}`),
      ),
    )
    server.listen({ host, port }, () => {
      const address = server.address()
      if (typeof address === 'object' && address !== null) resolve(address)
    })
  })
}
