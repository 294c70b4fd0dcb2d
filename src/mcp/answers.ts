import { isRecord } from '../engine/core/check.ts'
import type { Envelope } from '../engine/core/context.ts'
import { errorText } from '../engine/core/error.ts'
import { decodeUtf8, parseJson } from '../safe/json.ts'
import type { Calls, McpToolCall } from './calls.ts'
import type { CallGate } from './gate.ts'
import { messageList } from './passage.ts'
import { requestKey, rpcCodes, rpcErrorText } from './rpc/answer.ts'
import { MESSAGE_LIMITS, type RpcMessage } from './rpc/packet.ts'
import { itemsOf, looksLikeJson, type Skimmed, skim } from './rpc/skim.ts'
import type { ServerName } from './server-name.ts'

/** What is needed to look at the answers of a server. */
export interface Answering {
  readonly calls: Calls
  readonly gate: CallGate
  readonly server: ServerName
  envelope(call?: McpToolCall): Envelope
  tell(line: string): void
  /** For streams that are resumed: a call that a result may belong to which nobody here knows. */
  readonly stranger?: () => McpToolCall
}

type Given = Buffer | undefined

/** What the client gets for a message of the server; nothing when it must not get it. */
export function answersOf(raw: Buffer, answering: Answering): Given | Promise<Given> {
  const seen = skim(raw)
  if (seen === undefined) {
    if (!looksLikeJson(raw)) return raw
    answering.tell('a line of the server that is no message was left out')
    return undefined
  }
  if (seen.kind === 'message') return one(raw, seen, answering)
  const parts = itemsOf(raw)
  if (parts === undefined) {
    answering.tell('a line of the server that is no message was left out')
    return undefined
  }
  const given = parts.map((part) => answersOf(part, answering))
  if (given.every((part, index) => part === parts[index])) return raw
  return Promise.all(given).then((all) => {
    const kept = all.filter((part) => part !== undefined)
    if (kept.every((part, index) => part === parts[index]) && kept.length === parts.length) return raw
    return kept.length === 0 ? undefined : messageList(kept)
  })
}

function one(
  raw: Buffer,
  { id, hasMethod, isAnswer }: Extract<Skimmed, { kind: 'message' }>,
  answering: Answering,
): Given | Promise<Given> {
  if (hasMethod || !isAnswer) return raw
  const key = requestKey(id)
  const entry = key === undefined ? undefined : answering.calls.answer(key)
  if (entry === undefined)
    return answering.stranger === undefined || key === undefined
      ? raw
      : resumed(raw, answering, answering.stranger)
  if (entry.kind === 'call') return result(raw, entry, answering)
  if (entry.kind === 'initialize') answering.server.learn(nameIn(raw))
  return raw
}

/** Only what looks like the result of a tool: other answers come by this way too. */
function resumed(raw: Buffer, answering: Answering, stranger: () => McpToolCall): Given | Promise<Given> {
  const message = read(raw)
  if (typeof message !== 'string' && isRecord(message.result) && !('content' in message.result)) return raw
  return result(raw, { ...stranger(), id: typeof message === 'string' ? null : message.id }, answering)
}

async function result(raw: Buffer, call: McpToolCall, answering: Answering): Promise<Given> {
  const { gate, calls } = answering
  const envelope = answering.envelope(call)
  const message = read(raw)
  if (typeof message === 'string') {
    await gate.failed(call, message, envelope)
    return Buffer.from(
      rpcErrorText(call.id, rpcCodes.internal, `the server's answer cannot be read: ${message}`),
    )
  }
  const { result, error } = message
  if (result === undefined || result === null) {
    const context = [...call.context, ...(await gate.failed(call, error, envelope))]
    return context.length === 0 ? raw : withMessage(message, error, context)
  }
  if (!isRecord(result)) {
    await gate.failed(call, 'the result is no object', envelope)
    return Buffer.from(rpcErrorText(call.id, rpcCodes.internal, "the server's result is no object"))
  }
  const { task } = result
  if (call.isTask && isRecord(task) && typeof task.taskId === 'string') {
    calls.keepTask(task.taskId, call)
    if (!('content' in result) && !('structuredContent' in result)) return raw
  }
  const changed = await gate.after(call, result, envelope)
  return changed === undefined ? raw : Buffer.from(JSON.stringify({ ...message, result: changed }))
}

/** An error has no place for more than its message. */
function withMessage(message: RpcMessage, error: unknown, context: readonly string[]): Buffer {
  const known = isRecord(error) ? error : {}
  const text = [String(known.message ?? ''), ...context].join('\n')
  return Buffer.from(JSON.stringify({ ...message, error: { ...known, message: text } }))
}

/** The message, or why it cannot be read. */
function read(raw: Buffer): RpcMessage | string {
  try {
    const value = parseJson(decodeUtf8(raw), MESSAGE_LIMITS)
    return isRecord(value) ? value : 'it is no object'
  } catch (thrown) {
    return errorText(thrown)
  }
}

function nameIn(raw: Buffer): string | undefined {
  const message = read(raw)
  const result = typeof message === 'string' ? undefined : message.result
  const info = isRecord(result) ? result.serverInfo : undefined
  if (!isRecord(result)) return undefined
  return isRecord(info) && typeof info.name === 'string' ? info.name : 'unknown'
}
