import { isRecord } from '../engine/core/check.ts'
import { errorText } from '../engine/core/error.ts'
import { decodeUtf8, parseJson } from '../safe/json.ts'
import { splitArray } from './scan-message.ts'

export type RpcMessage = Readonly<Record<string, unknown>>

/** A tool call of the client. */
export interface ToolCallItem {
  readonly kind: 'call'
  readonly id: unknown
  readonly key: string
  readonly message: RpcMessage
  readonly params: RpcMessage
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

export type PacketItem =
  | ToolCallItem
  | {
      readonly kind: 'initialize' | 'task_result' | 'request'
      readonly id: unknown
      readonly key: string
      readonly message: RpcMessage
    }
  | { readonly kind: 'cancelled'; readonly key: string | undefined }
  | { readonly kind: 'answer'; readonly id: unknown; readonly message: RpcMessage }
  | { readonly kind: 'notification' }

/** One message of a client, or a batch. */
export interface Packet {
  readonly kind: 'packet'
  readonly raw: Buffer
  readonly items: readonly PacketItem[]
  /** The bytes of each item of a batch. */
  readonly parts: readonly Buffer[] | undefined
}

/** A packet that is not forwarded, and the error that the client gets. */
export interface RefusedPacket {
  readonly kind: 'refused'
  readonly answer: string | undefined
}

export const MAX_MESSAGE_BYTES = 64 * 1_048_576
export const MESSAGE_LIMITS = { maxBytes: MAX_MESSAGE_BYTES, maxDepth: 200, maxKeys: 1_000_000 } as const
const MAX_BATCH = 1_000
const INVISIBLE = /[\s\p{Cc}\p{Cf}]/gu
const isLikeMessageKey = lookalikesOf(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])
const isLikeParameter = lookalikesOf(['name', 'arguments', 'task', '_meta'])
const isLikeMethod = lookalikesOf(['tools/call', 'tasks/result', 'initialize', 'notifications/cancelled'])

/** Parses a packet. Refuses everything that the server's parser could read differently from ours. */
export function readPacket(raw: Buffer): Packet | RefusedPacket {
  let value: unknown
  try {
    value = parseJson(decodeUtf8(raw), MESSAGE_LIMITS)
  } catch (thrown) {
    return refused(null, rpcCodes.unreadable, errorText(thrown))
  }
  if (!Array.isArray(value)) {
    const item = readItem(value)
    return item.kind === 'refused' ? item : { kind: 'packet', raw, items: [item], parts: undefined }
  }
  const parts = splitArray(raw)
  if (parts === undefined || parts.length !== value.length || parts.length === 0 || parts.length > MAX_BATCH)
    return refused(null, rpcCodes.invalid, `a batch has 1 to ${MAX_BATCH} messages`)
  const items: PacketItem[] = []
  for (const one of value) {
    const item = readItem(one)
    if (item.kind === 'refused') return item
    items.push(item)
  }
  return { kind: 'packet', raw, items, parts }
}

function readItem(message: unknown): PacketItem | RefusedPacket {
  if (!isRecord(message)) return refused(null, rpcCodes.invalid, 'a message is an object')
  const { id, method } = message
  const key = requestKey(id)
  const known = key === undefined ? null : id
  const lookalike = Object.keys(message).find(isLikeMessageKey)
  if (lookalike !== undefined)
    return refused(
      known,
      rpcCodes.invalid,
      `${JSON.stringify(lookalike)} is not a key of JSON-RPC but looks like one`,
    )
  if (method === undefined)
    return key === undefined && id !== null
      ? refused(null, rpcCodes.invalid, 'a message has a method or an id')
      : { kind: 'answer', id, message }
  if (typeof method !== 'string') return refused(known, rpcCodes.invalid, 'the method must be text')
  if (isLikeMethod(method))
    return refused(known, rpcCodes.unknownMethod, `there is no method ${JSON.stringify(method.slice(0, 80))}`)
  if (!Object.hasOwn(message, 'id')) return readNotification(method, message)
  if (key === undefined) return refused(null, rpcCodes.invalid, 'an id is text or a number')
  if (method === 'tools/call') return readCall(message, id, key)
  return { kind: kindOf(method), id, key, message }
}

function kindOf(method: string): 'initialize' | 'task_result' | 'request' {
  if (method === 'initialize') return 'initialize'
  return method === 'tasks/result' ? 'task_result' : 'request'
}

function readNotification(method: string, { params }: RpcMessage): PacketItem | RefusedPacket {
  // A notification has no response that could report a block, and a lenient server might execute it.
  if (method === 'tools/call') return { kind: 'refused', answer: undefined }
  if (method !== 'notifications/cancelled') return { kind: 'notification' }
  return { kind: 'cancelled', key: isRecord(params) ? requestKey(params.requestId) : undefined }
}

function readCall(message: RpcMessage, id: unknown, key: string): PacketItem | RefusedPacket {
  const { params } = message
  if (!isRecord(params)) return refused(id, rpcCodes.invalidParams, 'params must be an object')
  const lookalike = Object.keys(params).find(isLikeParameter)
  if (lookalike !== undefined)
    return refused(
      id,
      rpcCodes.invalidParams,
      `${JSON.stringify(lookalike)} is not a parameter but looks like one`,
    )
  const { name, arguments: input = {} } = params
  if (typeof name !== 'string')
    return refused(id, rpcCodes.invalidParams, 'the name of the tool must be text')
  if (!isRecord(input)) return refused(id, rpcCodes.invalidParams, 'arguments must be an object')
  return { kind: 'call', id, key, message, params, name, input }
}

function refused(id: unknown, code: RpcCode, why: string): RefusedPacket {
  return { kind: 'refused', answer: rpcErrorText(id, code, why) }
}

/** The error codes of JSON-RPC, and two of our own. */
export const rpcCodes = {
  unreadable: -32700,
  invalid: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** The server is gone. Clients know this code as "connection closed". */
  gone: -32000,
  /** A hook blocked a call that expects a task, for which an error result is not a valid response. */
  blocked: -32050,
} as const

export type RpcCode = (typeof rpcCodes)[keyof typeof rpcCodes]

export function rpcResultText(id: unknown, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

export function rpcErrorText(id: unknown, code: RpcCode, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message: `hookhelm: ${message}` } })
}

/**
 * The key of a request id, or undefined if the value is not an id. Clients differ in whether `"5"` equals 5, and an
 * integer beyond 2⁵³ comes back rounded. Ids that any client may treat as equal have the same key, so that no response
 * skips the hooks because its id seems unknown.
 */
export function requestKey(id: unknown): string | undefined {
  if (typeof id === 'string') {
    const number = Number(id)
    return Number.isNaN(number) ? `text ${id}` : `number ${number}`
  }
  if (typeof id === 'number') return `number ${id}`
  return isRawJSON(id) ? `number ${Number(JSON.stringify(id))}` : undefined
}

/** Node 24 has it; TypeScript does not declare it yet. */
const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): boolean }

/**
 * Matches names that are not one of the known names but that a lenient parser could read as one. Some parsers ignore
 * case and read `Method` as `method`, and some fold letters of other alphabets. The server would then read another
 * message than we do.
 */
function lookalikesOf(known: readonly string[]): (name: string) => boolean {
  const exact = new Set(known)
  const folded = new Set(known.map(foldName))
  return (name) => !exact.has(name) && folded.has(foldName(name))
}

function foldName(text: string): string {
  return text.normalize('NFKC').replace(INVISIBLE, '').toUpperCase().toLowerCase()
}
