import { isRecord } from '../engine/core/check.ts'
import type { Envelope } from '../engine/core/context.ts'
import { errorText } from '../engine/core/error.ts'
import { decodeUtf8, parseJson } from '../safe/json.ts'
import { joinMessages } from './assemble-packet.ts'
import type { CallGate } from './call-gate.ts'
import { MESSAGE_LIMITS, type RpcMessage, requestKey, rpcCodes, rpcErrorText } from './packet.ts'
import type { McpToolCall, PendingRequests } from './pending-requests.ts'
import { looksLikeJson, type ScannedMessage, scanMessage, splitArray } from './scan-message.ts'
import type { ServerName } from './server-name.ts'

/** What `filterServerMessage` needs to know about a session. */
export interface ServerMessageContext {
  readonly calls: PendingRequests
  readonly gate: CallGate
  readonly server: ServerName
  envelope(call?: McpToolCall): Envelope
  warn(line: string): void
  /** On a resumed stream: makes the call for a result whose request this session did not see. */
  readonly unknownCall?: () => McpToolCall
}

/** What the client receives; undefined drops the message. */
type ClientBytes = Buffer | undefined

/**
 * Returns what the client receives for a message of the server. Results of tools pass the hooks. Every other message
 * stays byte for byte.
 */
export function filterServerMessage(
  raw: Buffer,
  context: ServerMessageContext,
): ClientBytes | Promise<ClientBytes> {
  const seen = scanMessage(raw)
  if (seen === undefined) {
    if (!looksLikeJson(raw)) return raw
    context.warn('dropped a line from the server that is not a JSON-RPC message')
    return undefined
  }
  if (seen.kind === 'message') return filterOne(raw, seen, context)
  const parts = splitArray(raw)
  if (parts === undefined) {
    context.warn('dropped a line from the server that is not a JSON-RPC message')
    return undefined
  }
  const filtered = parts.map((part) => filterServerMessage(part, context))
  if (filtered.every((part, index) => part === parts[index])) return raw
  return Promise.all(filtered).then((all) => {
    const kept = all.filter((part) => part !== undefined)
    if (kept.every((part, index) => part === parts[index]) && kept.length === parts.length) return raw
    return kept.length === 0 ? undefined : joinMessages(kept)
  })
}

function filterOne(
  raw: Buffer,
  { id, hasMethod, isResponse }: Extract<ScannedMessage, { kind: 'message' }>,
  context: ServerMessageContext,
): ClientBytes | Promise<ClientBytes> {
  if (hasMethod || !isResponse) return raw
  const key = requestKey(id)
  const entry = key === undefined ? undefined : context.calls.answer(key)
  if (entry === undefined)
    return context.unknownCall === undefined || key === undefined
      ? raw
      : filterResumed(raw, context, context.unknownCall)
  if (entry.kind === 'call') return filterResult(raw, entry, context)
  if (entry.kind === 'initialize') context.server.learn(serverNameIn(raw))
  return raw
}

/** A resumed stream also carries other responses. Only what looks like the result of a tool passes the hooks. */
function filterResumed(
  raw: Buffer,
  context: ServerMessageContext,
  unknownCall: () => McpToolCall,
): ClientBytes | Promise<ClientBytes> {
  const message = readMessage(raw)
  if (typeof message !== 'string' && isRecord(message.result) && !('content' in message.result)) return raw
  return filterResult(raw, { ...unknownCall(), id: typeof message === 'string' ? null : message.id }, context)
}

async function filterResult(
  raw: Buffer,
  call: McpToolCall,
  context: ServerMessageContext,
): Promise<ClientBytes> {
  const { gate, calls } = context
  const envelope = context.envelope(call)
  const message = readMessage(raw)
  if (typeof message === 'string') {
    await gate.failed(call, message, envelope)
    return Buffer.from(
      rpcErrorText(call.id, rpcCodes.internal, `the server's response cannot be read: ${message}`),
    )
  }
  const { result, error } = message
  if (result === undefined || result === null) {
    const context = [...call.context, ...(await gate.failed(call, error, envelope))]
    return context.length === 0 ? raw : errorWithContext(message, error, context)
  }
  if (!isRecord(result)) {
    await gate.failed(call, 'the result is not an object', envelope)
    return Buffer.from(rpcErrorText(call.id, rpcCodes.internal, "the server's result is not an object"))
  }
  const { task } = result
  if (call.isTask && isRecord(task) && typeof task.taskId === 'string') {
    calls.keepTask(task.taskId, call)
    if (!('content' in result) && !('structuredContent' in result)) return raw
  }
  const changed = await gate.after(call, result, envelope)
  return changed === undefined ? raw : Buffer.from(JSON.stringify({ ...message, result: changed }))
}

/** A JSON-RPC error can carry context only in its message. */
function errorWithContext(message: RpcMessage, error: unknown, context: readonly string[]): Buffer {
  const known = isRecord(error) ? error : {}
  const text = [String(known.message ?? ''), ...context].join('\n')
  return Buffer.from(JSON.stringify({ ...message, error: { ...known, message: text } }))
}

/** Returns the message, or why it cannot be read. */
function readMessage(raw: Buffer): RpcMessage | string {
  try {
    const value = parseJson(decodeUtf8(raw), MESSAGE_LIMITS)
    return isRecord(value) ? value : 'it is not an object'
  } catch (thrown) {
    return errorText(thrown)
  }
}

function serverNameIn(raw: Buffer): string | undefined {
  const message = readMessage(raw)
  const result = typeof message === 'string' ? undefined : message.result
  const info = isRecord(result) ? result.serverInfo : undefined
  if (!isRecord(result)) return undefined
  return isRecord(info) && typeof info.name === 'string' ? info.name : 'unknown'
}
