import { errorText } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { decodeUtf8, parseJson } from '../../safe/json.ts'
import { metaKeys, metaOf, type RequestEnvelope, readRequestEnvelope } from './request-envelope.ts'
import { splitArray } from './scan-message.ts'

export type RpcMessage = Readonly<Record<string, unknown>>

/** A tool call of the client. */
export interface ToolCallItem {
  readonly kind: 'call'
  readonly id: unknown
  readonly key: string
  readonly message: RpcMessage
  readonly params: RpcMessage
  readonly envelope: RequestEnvelope | undefined
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

export type PacketItem =
  | ToolCallItem
  | {
      readonly kind: RequestKind
      readonly id: unknown
      readonly key: string
      readonly message: RpcMessage
      /** Set from revision 2026-07-28 on. */
      readonly envelope: RequestEnvelope | undefined
    }
  | { readonly kind: 'cancelled'; readonly key: string | undefined; readonly message: RpcMessage }
  | { readonly kind: 'answer'; readonly id: unknown; readonly message: RpcMessage }
  | { readonly kind: 'notification'; readonly message: RpcMessage }

type RequestKind = 'initialize' | 'discover' | 'tools_list' | 'task_result' | 'task_get' | 'request'

/** The requests whose responses the proxy reads. */
const requestKinds = new Map<string, RequestKind>([
  ['initialize', 'initialize'],
  ['server/discover', 'discover'],
  ['tools/list', 'tools_list'],
  ['tasks/result', 'task_result'],
  ['tasks/get', 'task_get'],
])

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
const isLikeParameter = lookalikesOf(['name', 'arguments', 'task', '_meta', 'inputResponses', 'requestState'])
const isLikeMethod = lookalikesOf(['tools/call', 'notifications/cancelled', ...requestKinds.keys()])
const isLikeMetaKey = lookalikesOf(Object.values(metaKeys))

/** Parses a packet. Refuses everything that the server's parser could read differently from ours. */
export function readPacket(raw: Buffer): Packet | RefusedPacket {
  let value: unknown
  try {
    value = parseJson(decodeUtf8(raw), MESSAGE_LIMITS)
  } catch (thrown) {
    return refusedPacket(null, rpcCodes.unreadable, errorText(thrown))
  }
  if (!Array.isArray(value)) {
    const item = readItem(value)
    return item.kind === 'refused' ? item : { kind: 'packet', raw, items: [item], parts: undefined }
  }
  const parts = splitArray(raw)
  if (parts === undefined || parts.length !== value.length || parts.length === 0 || parts.length > MAX_BATCH)
    return refusedPacket(null, rpcCodes.invalid, `a batch has 1 to ${MAX_BATCH} messages`)
  const items: PacketItem[] = []
  for (const one of value) {
    const item = readItem(one)
    if (item.kind === 'refused') return item
    if ('envelope' in item && item.envelope !== undefined)
      return refusedPacket(null, rpcCodes.invalid, 'a batch cannot carry requests of revision 2026-07-28')
    items.push(item)
  }
  return { kind: 'packet', raw, items, parts }
}

function readItem(message: unknown): PacketItem | RefusedPacket {
  if (!isRecord(message)) return refusedPacket(null, rpcCodes.invalid, 'a message is an object')
  const { id, method } = message
  const key = requestKey(id)
  const known = key === undefined ? null : id
  const lookalike = Object.keys(message).find(isLikeMessageKey)
  if (lookalike !== undefined)
    return refusedPacket(
      known,
      rpcCodes.invalid,
      `${JSON.stringify(lookalike)} is not a key of JSON-RPC but looks like one`,
    )
  if (method === undefined)
    return key === undefined && id !== null
      ? refusedPacket(null, rpcCodes.invalid, 'a message has a method or an id')
      : { kind: 'answer', id, message }
  if (typeof method !== 'string') return refusedPacket(known, rpcCodes.invalid, 'the method must be text')
  if (isLikeMethod(method))
    return refusedPacket(
      known,
      rpcCodes.unknownMethod,
      `there is no method ${JSON.stringify(method.slice(0, 80))}`,
    )
  if (!Object.hasOwn(message, 'id')) return readNotification(method, message)
  if (key === undefined) return refusedPacket(null, rpcCodes.invalid, 'an id is text or a number')
  const read = readRequestEnvelope(message.params)
  const envelope = typeof read === 'string' ? undefined : read
  if (method !== 'tools/call')
    return { kind: requestKinds.get(method) ?? 'request', id, key, message, envelope }
  const problem = typeof read === 'string' ? read : lookalikeInMeta(message.params)
  if (problem !== undefined) return refusedPacket(id, rpcCodes.invalidParams, problem)
  return readCall({ id, key, message, envelope })
}

/** A server that reads the key leniently would serve another revision than the proxy answers in. */
function lookalikeInMeta(params: unknown): string | undefined {
  const lookalike = Object.keys(metaOf(params) ?? {}).find(isLikeMetaKey)
  return lookalike === undefined
    ? undefined
    : `_meta[${JSON.stringify(lookalike.slice(0, 80))}] is not a key of MCP but looks like one`
}

function readNotification(method: string, message: RpcMessage): PacketItem | RefusedPacket {
  // A notification has no response that could report a block, and a lenient server might execute it.
  if (method === 'tools/call') return { kind: 'refused', answer: undefined }
  if (method !== 'notifications/cancelled') return { kind: 'notification', message }
  const { params } = message
  return { kind: 'cancelled', key: isRecord(params) ? requestKey(params.requestId) : undefined, message }
}

function readCall(
  request: Pick<ToolCallItem, 'id' | 'key' | 'message' | 'envelope'>,
): PacketItem | RefusedPacket {
  const { id, message } = request
  const { params } = message
  if (!isRecord(params)) return refusedPacket(id, rpcCodes.invalidParams, 'params must be an object')
  const lookalike = Object.keys(params).find(isLikeParameter)
  if (lookalike !== undefined)
    return refusedPacket(
      id,
      rpcCodes.invalidParams,
      `${JSON.stringify(lookalike)} is not a parameter but looks like one`,
    )
  const { name, arguments: input = {} } = params
  if (typeof name !== 'string')
    return refusedPacket(id, rpcCodes.invalidParams, 'the name of the tool must be text')
  if (!isRecord(input)) return refusedPacket(id, rpcCodes.invalidParams, 'arguments must be an object')
  return { ...request, kind: 'call', params, name, input }
}

export function refusedPacket(id: unknown, code: RpcCode, why: string): RefusedPacket {
  return { kind: 'refused', answer: rpcErrorText(id, code, why) }
}

/** The error codes of JSON-RPC and MCP, and two of our own. */
export const rpcCodes = {
  unreadable: -32700,
  invalid: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** HTTP headers that disagree with the body. */
  headerMismatch: -32020,
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
