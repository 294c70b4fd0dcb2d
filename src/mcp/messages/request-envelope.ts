import { isRecord } from '../../engine/core/schema/check.ts'
import { canAsk } from '../approval-requests.ts'
import type { RpcMessage } from './packet.ts'

/** The first revision without `initialize` and sessions: every request describes itself in `_meta`. */
const FIRST_STATELESS_REVISION = '2026-07-28'

/** The keys of `_meta` that the protocol reserves. */
export const metaKeys = {
  version: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const

/** What the client says about itself: with every request, or once with `initialize`. */
export interface McpClientInfo {
  readonly agent?: string
  /** The protocol revision. */
  readonly version?: string
  /** The client can ask a person. */
  readonly canAsk: boolean
}

/** The `_meta` of a request of revision 2026-07-28 or later. */
export interface RequestEnvelope extends McpClientInfo {
  readonly version: string
  readonly meta: RpcMessage
}

export function isStatelessRevision(version: string): boolean {
  return version >= FIRST_STATELESS_REVISION
}

/** Returns undefined for a request of an older revision, and what is wrong with an envelope that is malformed. */
export function readRequestEnvelope(params: unknown): RequestEnvelope | string | undefined {
  const meta = metaOf(params)
  if (meta === undefined || !Object.hasOwn(meta, metaKeys.version)) return undefined
  const { [metaKeys.version]: version, [metaKeys.capabilities]: capabilities } = meta
  if (typeof version !== 'string') return `_meta["${metaKeys.version}"] must be text`
  if (!isRecord(capabilities)) return `_meta["${metaKeys.capabilities}"] must be an object`
  const clientInfo = meta[metaKeys.clientInfo]
  if (clientInfo !== undefined && !isRecord(clientInfo))
    return `_meta["${metaKeys.clientInfo}"] must be an object`
  return { ...clientInfoOf(clientInfo, capabilities), version, meta }
}

export function clientInfoOf(clientInfo: unknown, capabilities: unknown): McpClientInfo {
  const name = isRecord(clientInfo) ? clientInfo.name : undefined
  return { canAsk: canAsk(capabilities), ...(isLabel(name) ? { agent: name.slice(0, MAX_LABEL) } : {}) }
}

export function metaOf(params: unknown): RpcMessage | undefined {
  const meta = isRecord(params) ? params._meta : undefined
  return isRecord(meta) ? meta : undefined
}

/** Longer names and ids are no names, and the gateway refuses them. */
const MAX_LABEL = 256
const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}/

function isLabel(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** The name that the server gives itself in a result. */
export function serverNameOf(result: unknown): string | undefined {
  const info = metaOf(result)?.[metaKeys.serverInfo] ?? (isRecord(result) ? result.serverInfo : undefined)
  return isRecord(info) && isLabel(info.name) ? info.name : undefined
}

/** The W3C trace context that the client sends, if it is well-formed. */
export function traceparentOf(meta: RpcMessage | undefined): string | undefined {
  const given = meta?.traceparent
  return typeof given === 'string' && given.length <= MAX_LABEL && TRACEPARENT.test(given) ? given : undefined
}
