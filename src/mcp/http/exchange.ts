import { errorText } from '../../engine/core/error.ts'
import { handlerError } from '../../engine/core/handler-errors.ts'
import { redact } from '../../safe/redact.ts'
import type { AdmittedMessage } from '../passage.ts'
import { messageList } from '../passage.ts'
import { rpcCodes, rpcErrorText } from '../rpc/answer.ts'
import { MAX_MESSAGE_BYTES, type Packet } from '../rpc/packet.ts'
import { isBlank, itemsOf } from '../rpc/skim.ts'
import type { Session } from '../session.ts'
import { dataOf, EventSplitter, isEndpoint, withData } from './event-stream.ts'
import { headersForClient, isEventStream } from './headers.ts'
import type { HttpReply } from './reply.ts'

/** One request of the client that went to the server. */
export interface Exchange {
  readonly session: Session
  readonly reply: HttpReply
  /** What the client sent; nothing where it only listens. */
  readonly packet?: Packet
  readonly admitted?: AdmittedMessage
}

/** Gives the client what the server answered, results of tools as the hooks want them. */
export async function deliverAnswer(answer: Response, exchange: Exchange): Promise<void> {
  if (isEventStream(answer.headers)) return deliverEvents(answer, exchange)
  const { session, reply, packet, admitted } = exchange
  const body = await whole(answer)
  const given = isBlank(body) ? body : await session.pass(body, packet === undefined)
  const lost = session.lose(`the server answered ${answer.status} and nothing else`, keysOf(packet))
  if (reply.isStream) {
    // We had to ask a person, so that the client already listens for events.
    if (given !== undefined && answer.ok && !isBlank(given)) reply.event(given.toString('utf8'))
    else
      for (const id of lost)
        reply.event(rpcErrorText(id, rpcCodes.internal, `the server answered ${answer.status}`))
    if (admitted?.answer !== undefined) reply.event(admitted.answer)
    return reply.end()
  }
  if (admitted?.answer !== undefined) {
    const joined = joinedAnswer(given, admitted.answer)
    return reply.json(answer.ok ? 200 : answer.status, joined, headersForClient(answer.headers))
  }
  reply.body(answer.status, given ?? '', headersForClient(answer.headers))
}

async function deliverEvents(
  answer: Response,
  { session, reply, packet, admitted }: Exchange,
): Promise<void> {
  reply.begin(answer.status, headersForClient(answer.headers))
  if (admitted?.answer !== undefined) reply.event(admitted.answer)
  const splitter = new EventSplitter()
  const pass = async (event: Buffer) => {
    const given = await passEvent(event, session, packet === undefined)
    if (given !== undefined) await reply.write(given)
  }
  try {
    // One after the other: their ids say how far the client has read.
    for await (const chunk of answer.body ?? [])
      for (const event of splitter.push(Buffer.from(chunk))) await pass(event)
    const rest = splitter.rest()
    if (rest.length > 0) await pass(rest)
  } catch {
    // Either side broke it off. The client may take it up again where it was, so its calls are not lost.
  }
  reply.end()
}

async function passEvent(event: Buffer, session: Session, isResumed: boolean): Promise<Buffer | undefined> {
  const data = dataOf(event)
  if (data === undefined) return event
  // The transport before this one: it tells the client where to send its calls, which may be past us.
  if (isEndpoint(event)) return undefined
  const given = await session.pass(data, isResumed)
  if (given === data) return event
  return given === undefined ? undefined : withData(event, given)
}

/** The exchange failed on the way to the server or back. */
export function failExchange(thrown: unknown, { session, reply, packet }: Exchange): void {
  const why = redact(errorText(thrown))
  const ids = session.lose(why, keysOf(packet))
  if (reply.left.aborted) return
  if (!reply.isStream) {
    const told = rpcErrorText(ids[0], rpcCodes.internal, `the server cannot be reached: ${why}`)
    return reply.json(502, told)
  }
  for (const id of ids) reply.event(rpcErrorText(id, rpcCodes.gone, why))
  reply.end()
}

function keysOf(packet: Packet | undefined): string[] {
  return (packet?.items ?? []).flatMap((item) =>
    'key' in item && item.kind !== 'cancelled' ? [item.key] : [],
  )
}

/** The server's answers and ours in one list: a batch was sent. */
function joinedAnswer(given: Buffer | undefined, ours: string): string {
  const theirs = given === undefined || isBlank(given) ? [] : (itemsOf(given) ?? [given])
  return messageList([...theirs, ...(itemsOf(Buffer.from(ours)) ?? [])]).toString('utf8')
}

async function whole(answer: Response): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.length
    if (size > MAX_MESSAGE_BYTES)
      throw handlerError('outbound.too_large', `the answer has more than ${MAX_MESSAGE_BYTES} bytes`)
    chunks.push(Buffer.from(chunk))
  }
  return Buffer.concat(chunks)
}
