import { errorText } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { decodeUtf8, parseJson } from '../../safe/json.ts'
import type { CallGate } from '../call-gate.ts'
import type { McpToolCall, PendingRequest, PendingRequests, TaskCalls } from '../pending-requests.ts'
import type { ServerName } from '../server-name.ts'
import type { McpResult } from '../tool-result.ts'
import { joinMessages } from './assemble-packet.ts'
import { MESSAGE_LIMITS, type RpcMessage, requestKey, rpcCodes, rpcErrorText } from './packet.ts'
import { serverNameOf } from './request-envelope.ts'
import { looksLikeJson, type ScannedMessage, scanMessage, splitArray } from './scan-message.ts'

/** What `filterServerMessage` needs to know about a session. */
export interface ServerMessageContext {
  readonly calls: PendingRequests
  /** By the id of the task. */
  readonly tasks: TaskCalls
  readonly gate: CallGate
  readonly server: ServerName
  warn(line: string): void
  /** Receives the result of `tools/list`. */
  noticeTools(result: unknown): void
  /** A call for a result whose request the proxy did not see. */
  unknownCall(): McpToolCall
  readonly stream: ServerStream
}

/**
 * Where a message of the server arrives: on the one connection of a client, in the response to one HTTP request, or on
 * a stream that continues others, whose requests the proxy may not have seen.
 */
export type ServerStream = 'connection' | 'response' | 'resumed'

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
  { id, method, isResponse }: Extract<ScannedMessage, { kind: 'message' }>,
  context: ServerMessageContext,
): ClientBytes | Promise<ClientBytes> {
  if (method === 'notifications/tasks') return filterTaskNotice(raw, context)
  if (method !== undefined || !isResponse) return raw
  const key = requestKey(id)
  const entry = key === undefined ? undefined : context.calls.answer(key)
  if (entry === undefined) return key === undefined ? raw : filterUnexpected(raw, key, context)
  if (entry.kind === 'call') return filterResult(raw, entry, context)
  if (entry.kind === 'task_get') return filterTask(raw, entry.call, context)
  return readResponse(raw, entry, context)
}

/** Reads a response that the proxy learns from. */
function readResponse(raw: Buffer, { kind, id }: PendingRequest, context: ServerMessageContext): ClientBytes {
  if (kind === 'initialize' || kind === 'discover' || kind === 'own_discover')
    context.server.learn(serverNameIn(raw))
  if (kind === 'own_discover') return undefined
  if (kind !== 'tools_list') return raw
  const message = readMessage(raw)
  if (typeof message === 'string') return Buffer.from(unreadableResponse(id, message))
  context.noticeTools(message.result)
  return raw
}

/**
 * A server could answer a call that waits for the hooks, or answer a call in the response to another request, where the
 * proxy does not know its tool. A client would accept both.
 */
function filterUnexpected(
  raw: Buffer,
  key: string,
  context: ServerMessageContext,
): ClientBytes | Promise<ClientBytes> {
  const { calls, stream } = context
  if (calls.get(key)?.kind === 'held') {
    context.warn('dropped a response of the server to a call that it did not receive')
    return undefined
  }
  if (stream === 'resumed') return filterResumed(raw, context)
  if (stream === 'connection') return raw
  const message = readMessage(raw)
  if (typeof message !== 'string' && !(isRecord(message.result) && hasContent(message.result))) return raw
  context.warn('dropped a response of the server that belongs to another request')
  return undefined
}

/** A resumed stream also carries other responses. Only what looks like the result of a tool passes the hooks. */
function filterResumed(raw: Buffer, context: ServerMessageContext): ClientBytes | Promise<ClientBytes> {
  const message = readMessage(raw)
  if (typeof message !== 'string' && isRecord(message.result) && !hasContent(message.result)) {
    context.noticeTools(message.result)
    return raw
  }
  const id = typeof message === 'string' ? null : message.id
  return filterResult(raw, { ...context.unknownCall(), id }, context)
}

async function filterResult(
  raw: Buffer,
  call: McpToolCall,
  context: ServerMessageContext,
): Promise<ClientBytes> {
  const { gate } = context
  const message = readMessage(raw)
  if (typeof message === 'string') {
    await gate.failed(call, message)
    return Buffer.from(unreadableResponse(call.id, message))
  }
  const { result, error } = message
  if (result === undefined || result === null) {
    const added = [...call.context, ...(await gate.failed(call, error))]
    return added.length === 0 ? raw : errorWithContext(message, error, added)
  }
  if (!isRecord(result)) {
    await gate.failed(call, 'the result is not an object')
    return Buffer.from(rpcErrorText(call.id, rpcCodes.internal, "the server's result is not an object"))
  }
  keepTask(result, call, context.tasks)
  if (!hasContent(result) && call.request !== undefined) {
    if (result.resultType === 'input_required') return pauseCall(raw, message, { call, result })
    if (result.resultType === 'task') return filterTask(raw, call, context)
  }
  if (!hasContent(result) && call.isTask && isRecord(result.task)) return raw
  const changed = await gate.after(call, result)
  return changed === undefined ? raw : Buffer.from(JSON.stringify({ ...message, result: changed }))
}

function hasContent(result: McpResult): boolean {
  return 'content' in result || 'structuredContent' in result
}

/** Remembers a call whose result the client fetches later. Revision 2026-07-28 has the id in the result itself. */
function keepTask(result: McpResult, call: McpToolCall, tasks: TaskCalls): void {
  const task = isRecord(result.task) ? result.task : result
  if (typeof task.taskId === 'string' && (call.isTask || result.resultType === 'task'))
    tasks.keep(task.taskId, { ...call, isTask: false })
}

/** The server asks the client for input. A state of the proxy proves with the next request that a person approved. */
function pauseCall(
  raw: Buffer,
  message: RpcMessage,
  { call, result }: { readonly call: McpToolCall; readonly result: McpResult },
): Buffer {
  const { requestState } = result
  const state = call.pause?.(requestState) ?? undefined
  if (state === undefined) return raw
  return Buffer.from(JSON.stringify({ ...message, result: { ...result, requestState: state } }))
}

/** A task that is complete carries the result of its call. */
async function filterTask(
  raw: Buffer,
  call: McpToolCall,
  context: ServerMessageContext,
): Promise<ClientBytes> {
  const message = readMessage(raw)
  if (typeof message === 'string') return Buffer.from(unreadableResponse(call.id, message))
  const { result } = message
  if (!isRecord(result)) return raw
  if (hasContent(result)) {
    const changed = await context.gate.after(call, result)
    return changed === undefined ? raw : Buffer.from(JSON.stringify({ ...message, result: changed }))
  }
  const task = await filteredTask(result, call, context)
  return task === result ? raw : Buffer.from(JSON.stringify({ ...message, result: task }))
}

/** The server may also send a task with its result without being asked. */
async function filterTaskNotice(raw: Buffer, context: ServerMessageContext): Promise<ClientBytes> {
  const message = readMessage(raw)
  if (typeof message === 'string' || !isRecord(message.params)) {
    context.warn('dropped a notification of the server about a task that cannot be read')
    return undefined
  }
  const { params } = message
  const call = context.tasks.get(params.taskId) ?? context.unknownCall()
  const task = await filteredTask(params, call, context)
  return task === params ? raw : Buffer.from(JSON.stringify({ ...message, params: task }))
}

async function filteredTask(
  task: McpResult,
  call: McpToolCall,
  { gate }: ServerMessageContext,
): Promise<McpResult> {
  if (isRecord(task.error)) await gate.failed(call, task.error)
  if (!isRecord(task.result)) return task
  const changed = await gate.after(call, task.result)
  return changed === undefined ? task : { ...task, result: changed }
}

/** A JSON-RPC error can carry context only in its message. */
function errorWithContext(message: RpcMessage, error: unknown, context: readonly string[]): Buffer {
  const known = isRecord(error) ? error : {}
  const text = [String(known.message ?? ''), ...context].join('\n')
  return Buffer.from(JSON.stringify({ ...message, error: { ...known, message: text } }))
}

function unreadableResponse(id: unknown, why: string): string {
  return rpcErrorText(id, rpcCodes.internal, `the server's response cannot be read: ${why}`)
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
  return isRecord(result) ? (serverNameOf(result) ?? 'unknown') : undefined
}
