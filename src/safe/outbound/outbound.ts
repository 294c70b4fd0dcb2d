import { isIP } from 'node:net'
import type { Agent } from 'undici'
import { HookError } from '../../engine/core/errors/error.ts'
import { type HandlerCode, handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import {
  type ConnectorRules,
  createConnector,
  type Dial,
  type Resolve,
  resolveWithServers,
  resolveWithSystem,
} from './connector.ts'
import { exchange, type OutboundAnswer, type OutboundRequest } from './exchange.ts'
import { guardedFetch } from './fetch.ts'
import { loadUndici } from './load-undici.ts'
import type { Listening } from './rules/address.ts'
import { followAllowList, readAllowList } from './rules/allow-list.ts'
import { type BlockReason, shownUrl } from './rules/url.ts'

export interface OutboundOptions {
  /** Allowed targets besides public addresses: `10.1.0.0/16`, `127.0.0.1:8080`, `safety.internal`. A function is read at each call. */
  readonly allow?: readonly string[] | (() => readonly string[])
  /** Where this gateway listens. Never called, even if allowed. */
  readonly own?: () => readonly Listening[]
  /** Name servers to query instead of the system's resolver, so that one tenant cannot slow down the others. */
  readonly dns?: readonly string[] | Resolve
  /** Certificate authorities in PEM, for internal hosts. */
  readonly ca?: readonly string[]
  /** The largest decoded answer. */
  readonly maxBytes?: number
  /** The most connections per host. */
  readonly connections?: number
  readonly log?: Log
  readonly dial?: Dial
}

export interface Outbound {
  request(request: OutboundRequest): Promise<OutboundAnswer>
  /** A `fetch` for libraries, with the same rules. A redirect is an error. */
  readonly fetch: typeof globalThis.fetch
  /** Logs that an address was refused. */
  refuse(url: string, reason: BlockReason): void
  /** Closes every connection. */
  dispose(): Promise<void>
}

const MAX_BYTES = 1_048_576
const MAX_ORIGINS = 1_024

export function createOutbound(options: OutboundOptions = {}): Outbound {
  const { maxBytes = MAX_BYTES, log, allow = [], own = () => [], dns, ca } = options
  const rules: ConnectorRules = {
    resolve: typeof dns === 'object' ? resolveWithServers(dns) : (dns ?? resolveWithSystem),
    allow: typeof allow === 'function' ? followAllowList(allow) : readAllowList(allow),
    own,
    ca,
  }
  let agent: Agent | undefined
  const getAgent = () => {
    agent ??= createAgent(rules, options)
    return agent
  }
  const refuse = (url: string, reason: BlockReason) =>
    log?.('security.hook.ssrf_block', { url: shownUrl(url), reason })
  const failed = (thrown: unknown, url: URL, signal: AbortSignal): HookError => {
    const error = outboundError(thrown, url.host, signal)
    const reason = blockReason(error, url)
    if (reason !== undefined) refuse(url.href, reason)
    return error
  }
  return {
    request: (request) =>
      exchange(getAgent(), request, maxBytes).catch((thrown: unknown) => {
        throw failed(thrown, request.url, request.signal)
      }),
    fetch: guardedFetch(getAgent, { maxBytes, failed, refuse }),
    refuse,
    dispose: async () => agent?.destroy(),
  }
}

function createAgent(rules: ConnectorRules, { connections = 32, dial }: OutboundOptions): Agent {
  const { Agent } = loadUndici()
  return new Agent({
    connect: createConnector(rules, dial),
    connections,
    maxOrigins: MAX_ORIGINS,
    allowH2: false,
    // The caller's signal is the only deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Short, so that addresses are soon resolved and checked again.
    keepAliveTimeout: 10_000,
    keepAliveMaxTimeout: 30_000,
  })
}

function blockReason({ code, cause }: HookError, url: URL): BlockReason | undefined {
  if (code === 'outbound.private_address')
    return isIP(url.hostname.replace(/^\[|\]$/g, '')) ? 'blocked_ip' : 'blocked_resolved_ip'
  if (code === 'outbound.dns') return cause === undefined ? 'no_ips_resolved' : 'dns_resolve_failed'
  return undefined
}

/** Throws `outbound.redirect` or `outbound.status` unless the status is 2xx. */
export function requireSuccess(status: number, host: string): void {
  if (status >= 200 && status < 300) return
  if (status >= 300 && status < 400)
    throw handlerError('outbound.redirect', `${host} answered ${status}, a redirect`)
  throw handlerError('outbound.status', `${host} answered ${status}`)
}

const outboundCodes: Readonly<Record<string, HandlerCode>> = {
  UND_ERR_CONNECT_TIMEOUT: 'outbound.timeout',
  UND_ERR_HEADERS_TIMEOUT: 'outbound.timeout',
  UND_ERR_BODY_TIMEOUT: 'outbound.timeout',
  ETIMEDOUT: 'outbound.timeout',
  UND_ERR_HEADERS_OVERFLOW: 'outbound.too_large',
  HPE_HEADER_OVERFLOW: 'outbound.too_large',
  EPROTO: 'outbound.tls',
}
const tlsCode =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|CRL_)/

/** Converts any failure to a coded error, without contents of the request or the answer. */
function outboundError(thrown: unknown, host: string, signal: AbortSignal): HookError {
  if (signal.aborted)
    return handlerError('outbound.timeout', `${host} did not answer in time`, { cause: thrown })
  if (thrown instanceof HookError) return thrown
  // `fetch` wraps errors of the connector.
  if (thrown instanceof Error && thrown.cause instanceof HookError) return thrown.cause
  const system = systemCode(thrown)
  const code = outboundCodes[system] ?? (tlsCode.test(system) ? 'outbound.tls' : 'outbound.connection')
  return handlerError(code, `${host}: ${system}`, { cause: thrown })
}

/** The code of an error, or of the first of several if all addresses of a host failed. */
function systemCode(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'unknown error'
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return systemCode(thrown.errors[0])
  return thrown.cause instanceof Error ? systemCode(thrown.cause) : thrown.name
}
