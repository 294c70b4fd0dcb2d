import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isRecord } from '../../engine/core/schema/check.ts'
import {
  type Packet,
  type PacketItem,
  type RefusedPacket,
  refusedPacket,
  rpcCodes,
} from '../messages/packet.ts'
import { isStatelessRevision, metaKeys } from '../messages/request-envelope.ts'
import type { HeaderChanges } from '../messages/tool-headers.ts'

const VERSION = 'mcp-protocol-version'
const METHOD = 'mcp-method'
const NAME = 'mcp-name'
const ENCODED = /^=\?base64\?(.*)\?=$/s

/** The parameter that `Mcp-Name` repeats. */
const namedBy = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

/**
 * Refuses a request whose headers say something else than its body. Revision 2026-07-28 lets routers decide by the
 * headers, while the server and the hooks go by the body.
 */
export function checkRequestHeaders(headers: IncomingHttpHeaders, packet: Packet): RefusedPacket | undefined {
  const given = { version: read(headers, VERSION), method: read(headers, METHOD), name: read(headers, NAME) }
  const [item] = packet.items
  if (item === undefined || packet.parts !== undefined) {
    const isStateless = given.version !== undefined && isStatelessRevision(given.version)
    return isStateless || given.method !== undefined || given.name !== undefined
      ? mismatch(undefined, 'a batch has no Mcp-Method, no Mcp-Name, and an older revision')
      : undefined
  }
  return checkItem(item, given)
}

interface GivenHeaders {
  readonly version: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
}

function checkItem(item: PacketItem, given: GivenHeaders): RefusedPacket | undefined {
  const { method, params } = item.message
  const id = 'key' in item && item.kind !== 'cancelled' ? item.id : undefined
  const envelope = 'envelope' in item ? item.envelope : undefined
  if (given.method !== undefined && given.method !== method)
    return mismatch(id, `Mcp-Method is not the method of the body, which is ${JSON.stringify(method)}`)
  const source = typeof method === 'string' ? namedBy.get(method) : undefined
  const named = source !== undefined && isRecord(params) ? params[source] : undefined
  if (source !== undefined && given.name !== undefined && decodeHeader(given.name) !== named)
    return mismatch(id, `Mcp-Name is not params.${source} of the body`)
  if (envelope === undefined) return checkOlderRequest(item, given.version)
  if (given.version !== envelope.version)
    return mismatch(id, `MCP-Protocol-Version is missing or not that of _meta, ${envelope.version}`)
  if (given.method === undefined) return mismatch(id, 'Mcp-Method is missing')
  if (typeof named === 'string' && given.name === undefined) return mismatch(id, 'Mcp-Name is missing')
  return undefined
}

/** The server might serve a request by the revision of the header, while its body describes nothing. */
function checkOlderRequest(item: PacketItem, version: string | undefined): RefusedPacket | undefined {
  if (version === undefined || !isStatelessRevision(version)) return undefined
  if (item.kind === 'initialize')
    return mismatch(item.id, `revision ${version} of MCP-Protocol-Version has no initialize`)
  if (!('envelope' in item)) return undefined
  const why = `revision ${version} of MCP-Protocol-Version needs _meta with ${metaKeys.version} and ${metaKeys.capabilities}`
  return refusedPacket(item.id, rpcCodes.invalidParams, why)
}

function mismatch(id: unknown, why: string): RefusedPacket {
  return refusedPacket(id, rpcCodes.headerMismatch, `the headers and the body disagree: ${why}`)
}

function read(headers: IncomingHttpHeaders, name: string): string | undefined {
  return headers[name]?.toString().replace(/^[ \t]+|[ \t]+$/g, '')
}

/** Returns undefined for base64 that is malformed. */
function decodeHeader(value: string): string | undefined {
  const [, encoded] = ENCODED.exec(value) ?? []
  if (encoded === undefined) return value
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) return undefined
  const text = bytes.toString('utf8')
  return Buffer.from(text).equals(bytes) ? text : undefined
}

/** The headers for a request of the proxy itself that accompanies one of the client. */
export function headersForMethod(
  headers: Readonly<Record<string, string>>,
  method: string,
): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => name !== NAME && !name.startsWith('mcp-param-'))
  return { ...Object.fromEntries(kept), [METHOD]: method }
}

/** Replaces headers that repeat what a hook rewrote. */
export function withHeaderChanges(
  headers: Readonly<Record<string, string>>,
  changes: HeaderChanges = {},
): Record<string, string> {
  const all = Object.entries({ ...headers, ...changes })
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** A hash of the credentials of a request, so that one client cannot use what another was given. */
export function principalOf({ authorization = '', cookie = '' }: IncomingHttpHeaders): string {
  return createHash('sha256').update(`${authorization}\n${cookie}`).digest('hex')
}
