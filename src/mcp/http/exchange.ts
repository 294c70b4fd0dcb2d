import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { errorText } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { redact } from '../../safe/secrets/redact.ts'
import type { McpSession } from '../mcp-session.ts'
import type { AdmittedPacket } from '../messages/assemble-packet.ts'
import { joinMessages } from '../messages/assemble-packet.ts'
import type { ServerStream } from '../messages/filter-server-message.ts'
import { MAX_MESSAGE_BYTES, type Packet, rpcCodes, rpcErrorText } from '../messages/packet.ts'
import { isBlank, splitArray } from '../messages/scan-message.ts'
import { EventSplitter, eventData, isEndpointEvent, replaceEventData } from './event-stream.ts'
import type { HttpReply } from './http-reply.ts'

/** One HTTP request of the client that was forwarded to the server. */
export interface Exchange {
  readonly session: McpSession
  readonly reply: HttpReply
  /** The body. Missing for a GET, which only receives events. */
  readonly packet?: Packet
  readonly admitted?: AdmittedPacket
}

/** Delivers the server's response to the client. Results of tools pass the hooks. */
export async function deliverAnswer(answer: Response, exchange: Exchange): Promise<void> {
  if (isEventStream(answer.headers)) return deliverEvents(answer, exchange)
  const { session, reply, packet, admitted } = exchange
  const body = await readBody(answer)
  const filtered = isBlank(body) ? body : await session.filterServerMessage(body, streamOf(packet))
  const unanswered = session.failPending(
    `the server answered ${answer.status} without a response to this request`,
    keysOf(packet),
  )
  if (reply.isStream) {
    // A person was asked, so the client already receives an event stream.
    if (filtered !== undefined && answer.ok && !isBlank(filtered)) reply.event(filtered.toString('utf8'))
    else
      for (const id of unanswered)
        reply.event(rpcErrorText(id, rpcCodes.internal, `the server answered ${answer.status}`))
    if (admitted?.answer !== undefined) reply.event(admitted.answer)
    return reply.end()
  }
  if (admitted?.answer !== undefined) {
    const joined = joinedAnswer(filtered, admitted.answer)
    return reply.json(answer.ok ? 200 : answer.status, joined, headersForClient(answer.headers))
  }
  reply.body(answer.status, filtered ?? '', headersForClient(answer.headers))
}

/** Reads the response to a request of the proxy itself. */
export async function readOwnResponse(answer: Response, session: McpSession): Promise<void> {
  if (isEventStream(answer.headers)) {
    const splitter = new EventSplitter()
    for await (const chunk of answer.body ?? [])
      for (const event of splitter.push(Buffer.from(chunk))) {
        const data = eventData(event)
        if (data !== undefined) await session.filterServerMessage(data)
      }
  } else await session.filterServerMessage(await readBody(answer))
  session.failOwnRequests(`the server answered ${answer.status}`)
}

async function deliverEvents(
  answer: Response,
  { session, reply, packet, admitted }: Exchange,
): Promise<void> {
  reply.begin(answer.status, headersForClient(answer.headers))
  if (admitted?.answer !== undefined) reply.event(admitted.answer)
  const splitter = new EventSplitter()
  const pass = async (event: Buffer) => {
    const filtered = await filterEvent(event, session, streamOf(packet))
    if (filtered !== undefined) await reply.write(filtered)
  }
  try {
    // In order: the id of an event says how far the client has read.
    for await (const chunk of answer.body ?? [])
      for (const event of splitter.push(Buffer.from(chunk))) await pass(event)
    const rest = splitter.rest()
    if (rest.length > 0) await pass(rest)
  } catch {
    // Either side closed the stream.
  }
  // Before revision 2026-07-28 the client may resume the stream, so its calls stay pending.
  if (packet?.items.some((item) => 'envelope' in item && item.envelope !== undefined))
    session.failPending('the stream ended without a response', keysOf(packet))
  reply.end()
}

async function filterEvent(
  event: Buffer,
  session: McpSession,
  stream: ServerStream,
): Promise<Buffer | undefined> {
  const data = eventData(event)
  if (data === undefined) return event
  // The older SSE transport tells the client where to send its calls. That address may bypass the proxy.
  if (isEndpointEvent(event)) return undefined
  const filtered = await session.filterServerMessage(data, stream)
  if (filtered === data) return event
  return filtered === undefined ? undefined : replaceEventData(event, filtered)
}

/** A GET has no request of its own and may continue any stream. */
function streamOf(packet: Packet | undefined): ServerStream {
  return packet === undefined ? 'resumed' : 'response'
}

/** Answers the client after the connection to the server failed. */
export function failExchange(thrown: unknown, { session, reply, packet }: Exchange): void {
  const why = redact(errorText(thrown))
  const ids = session.failPending(why, keysOf(packet))
  if (reply.closed.aborted) return
  if (!reply.isStream) {
    const text = rpcErrorText(ids[0], rpcCodes.internal, `the server cannot be reached: ${why}`)
    return reply.json(502, text)
  }
  for (const id of ids) reply.event(rpcErrorText(id, rpcCodes.gone, why))
  reply.end()
}

function keysOf(packet: Packet | undefined): string[] {
  return (packet?.items ?? []).flatMap((item) =>
    'key' in item && item.kind !== 'cancelled' ? [item.key] : [],
  )
}

/** Joins the server's responses and ours, for a batch. */
function joinedAnswer(given: Buffer | undefined, ours: string): string {
  const theirs = given === undefined || isBlank(given) ? [] : (splitArray(given) ?? [given])
  return joinMessages([...theirs, ...(splitArray(Buffer.from(ours)) ?? [])]).toString('utf8')
}

function readBody({ body }: Response): Promise<Buffer> {
  const tooLarge = () =>
    handlerError('outbound.too_large', `the answer has more than ${MAX_MESSAGE_BYTES} bytes`)
  return readBytes(body ?? [], MAX_MESSAGE_BYTES, tooLarge)
}

/** All bytes of a body. Throws as soon as there are too many. */
export async function readBytes(
  body: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  max: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > max) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Headers that belong to one connection and not to the message. */
const hopByHop = [
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'content-length'],
]
/** The proxy has another host name, sends no browser headers, and must be able to read the response. */
const notForServer = new Set([...hopByHop, 'host', 'origin', 'referer', 'accept-encoding'])
/** The proxy decodes the body and may change it. */
const notForClient = new Set([...hopByHop, 'content-encoding'])

export function headersForServer(headers: IncomingHttpHeaders): Record<string, string> {
  const named = connectionHeaders(headers.connection)
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || notForServer.has(name) || named.has(name) || name.startsWith('sec-fetch-')
      ? []
      : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  )
  return { ...Object.fromEntries(given), 'accept-encoding': 'identity' }
}

function headersForClient(headers: Headers): OutgoingHttpHeaders {
  const given: OutgoingHttpHeaders = {}
  for (const [name, value] of headers) if (!notForClient.has(name)) given[name] = value
  const cookies = headers.getSetCookie()
  return cookies.length === 0 ? given : { ...given, 'set-cookie': cookies }
}

/** Headers that the client limits to this connection. */
function connectionHeaders(connection: string | undefined): Set<string> {
  return new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
}

function isEventStream(headers: Headers): boolean {
  return /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
}
