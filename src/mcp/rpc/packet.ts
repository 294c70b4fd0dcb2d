import { isRecord } from '../../engine/core/check.ts'
import { errorText } from '../../engine/core/error.ts'
import { decodeUtf8, parseJson } from '../../safe/json.ts'
import { type RpcCode, requestKey, rpcCodes, rpcErrorText } from './answer.ts'
import { itemsOf, lookalikeOf } from './skim.ts'

export type RpcMessage = Readonly<Record<string, unknown>>

/** A tool call as the client wrote it. */
export interface CallItem {
  readonly kind: 'call'
  readonly id: unknown
  readonly key: string
  readonly message: RpcMessage
  readonly params: RpcMessage
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

export type Item =
  | CallItem
  | {
      readonly kind: 'initialize' | 'task_result' | 'request'
      readonly id: unknown
      readonly key: string
      readonly message: RpcMessage
    }
  | { readonly kind: 'cancelled'; readonly key: string | undefined }
  | { readonly kind: 'answer'; readonly id: unknown; readonly message: RpcMessage }
  | { readonly kind: 'notification' }

/** What a client sent in one piece: a message, or a list of them. */
export interface Packet {
  readonly kind: 'packet'
  readonly raw: Buffer
  readonly items: readonly Item[]
  /** The bytes of each item, where it is a list. */
  readonly parts: readonly Buffer[] | undefined
}

/** Not to be forwarded; this is the answer. */
export interface Refusal {
  readonly kind: 'refused'
  readonly answer: string | undefined
}

export const MAX_MESSAGE_BYTES = 64 * 1_048_576
export const MESSAGE_LIMITS = { maxBytes: MAX_MESSAGE_BYTES, maxDepth: 200, maxKeys: 1_000_000 } as const
const MAX_BATCH = 1_000

/**
 * Reads what a client sent. Whatever two readers could read in two ways is refused: the server would be one of them.
 */
export function readPacket(raw: Buffer): Packet | Refusal {
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
  const parts = itemsOf(raw)
  if (parts === undefined || parts.length !== value.length || parts.length === 0 || parts.length > MAX_BATCH)
    return refused(null, rpcCodes.invalid, `a batch has 1 to ${MAX_BATCH} messages`)
  const items: Item[] = []
  for (const one of value) {
    const item = readItem(one)
    if (item.kind === 'refused') return item
    items.push(item)
  }
  return { kind: 'packet', raw, items, parts }
}

function readItem(message: unknown): Item | Refusal {
  if (!isRecord(message)) return refused(null, rpcCodes.invalid, 'a message is an object')
  const { id, method } = message
  const key = requestKey(id)
  const known = key === undefined ? null : id
  const lookalike = Object.keys(message).find(isLikeMessageKey)
  if (lookalike !== undefined)
    return refused(known, rpcCodes.invalid, `${JSON.stringify(lookalike)} looks like a key of JSON-RPC`)
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

const isLikeMessageKey = lookalikeOf(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])
const isLikeParameter = lookalikeOf(['name', 'arguments', 'task', '_meta'])
const isLikeMethod = lookalikeOf(['tools/call', 'tasks/result', 'initialize', 'notifications/cancelled'])
function kindOf(method: string): 'initialize' | 'task_result' | 'request' {
  if (method === 'initialize') return 'initialize'
  return method === 'tasks/result' ? 'task_result' : 'request'
}

function readNotification(method: string, { params }: RpcMessage): Item | Refusal {
  // Nobody could be told that it was blocked, and a lenient server might do it all the same.
  if (method === 'tools/call') return { kind: 'refused', answer: undefined }
  if (method !== 'notifications/cancelled') return { kind: 'notification' }
  return { kind: 'cancelled', key: isRecord(params) ? requestKey(params.requestId) : undefined }
}

function readCall(message: RpcMessage, id: unknown, key: string): Item | Refusal {
  const { params } = message
  if (!isRecord(params)) return refused(id, rpcCodes.invalidParams, 'params must be an object')
  const lookalike = Object.keys(params).find(isLikeParameter)
  if (lookalike !== undefined)
    return refused(id, rpcCodes.invalidParams, `${JSON.stringify(lookalike)} looks like a parameter`)
  const { name, arguments: input = {} } = params
  if (typeof name !== 'string')
    return refused(id, rpcCodes.invalidParams, 'the name of the tool must be text')
  if (!isRecord(input)) return refused(id, rpcCodes.invalidParams, 'arguments must be an object')
  return { kind: 'call', id, key, message, params, name, input }
}

function refused(id: unknown, code: RpcCode, why: string): Refusal {
  return { kind: 'refused', answer: rpcErrorText(id, code, why) }
}
