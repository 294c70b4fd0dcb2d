import { isIP } from 'node:net'
import type { Agent } from 'undici'
import { HookError } from '../../engine/core/error.ts'
import type { Log } from '../../engine/core/sink.ts'
import type { ConnectorRules, Dial } from './connector.ts'
import { exchange, type OutboundAnswer, type OutboundRequest } from './exchange.ts'
import { outboundError } from './failure.ts'
import { guardedFetch } from './fetch.ts'
import { type Resolve, resolveBy, resolveBySystem } from './resolve.ts'
import type { Listening } from './rules/address.ts'
import { followAllowList, readAllowList } from './rules/allow-list.ts'
import { type BlockReason, shownUrl } from './rules/url.ts'

export interface OutboundOptions {
  /** What may be called beside public addresses: `10.1.0.0/16`, `127.0.0.1:8080`, `safety.internal`; a function where that changes. */
  readonly allow?: readonly string[] | (() => readonly string[])
  /** Where we listen ourselves; never called, whatever is allowed. */
  readonly own?: () => readonly Listening[]
  /** Name servers to ask instead of the machine's resolver; with several tenants none can slow the others down. */
  readonly dns?: readonly string[] | Resolve
  /** Certificate authorities in PEM, for inner hosts with one of their own. */
  readonly ca?: readonly string[]
  /** How many bytes an answer may have, decoded. */
  readonly maxBytes?: number
  /** Connections kept per host. */
  readonly connections?: number
  readonly log?: Log
  readonly dial?: Dial
}

export interface Outbound {
  request(request: OutboundRequest): Promise<OutboundAnswer>
  /** For libraries that want a `fetch`. Same rules; a redirect is an error. */
  readonly fetch: typeof globalThis.fetch
  /** Tells the operator that an address was refused. */
  refuse(url: string, reason: BlockReason): void
  /** Ends every connection. */
  dispose(): Promise<void>
}

const MAX_BYTES = 1_048_576
const MAX_ORIGINS = 1_024

export function createOutbound(options: OutboundOptions = {}): Outbound {
  const { maxBytes = MAX_BYTES, log } = options
  const rules = connectorRules(options)
  let agent: Promise<Agent> | undefined
  const openAgent = () => {
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
    async request(request) {
      try {
        return await exchange(await openAgent(), request, maxBytes)
      } catch (thrown) {
        throw failed(thrown, request.url, request.signal)
      }
    },
    fetch: guardedFetch(openAgent, { maxBytes, failed, refuse }),
    refuse,
    async dispose() {
      await (await agent)?.destroy()
    },
  }
}

function connectorRules({ allow = [], own = () => [], dns, ca }: OutboundOptions): ConnectorRules {
  return {
    resolve: resolver(dns),
    allow: typeof allow === 'function' ? followAllowList(allow) : readAllowList(allow),
    own,
    ca,
  }
}

/** Loads undici with the first request: it takes longer to load than most commands take to run. */
async function createAgent(
  rules: ConnectorRules,
  { connections = 32, dial }: OutboundOptions,
): Promise<Agent> {
  const [undici, { createConnector }] = await Promise.all([import('undici'), import('./connector.ts')])
  return new undici.Agent({
    connect: createConnector(rules, dial),
    connections,
    maxOrigins: MAX_ORIGINS,
    allowH2: false,
    // The caller's signal is the only deadline; two clocks would give two answers.
    headersTimeout: 0,
    bodyTimeout: 0,
    // Short, so that an address is looked up and checked again soon.
    keepAliveTimeout: 10_000,
    keepAliveMaxTimeout: 30_000,
  })
}

function resolver(dns: OutboundOptions['dns']): Resolve {
  if (dns === undefined) return resolveBySystem
  return typeof dns === 'function' ? dns : resolveBy(dns)
}

function blockReason({ code, cause }: HookError, url: URL): BlockReason | undefined {
  if (code === 'outbound.private_address')
    return isIP(url.hostname.replace(/^\[|\]$/g, '')) ? 'blocked_ip' : 'blocked_resolved_ip'
  if (code === 'outbound.dns') return cause === undefined ? 'no_ips_resolved' : 'dns_resolve_failed'
  return undefined
}

/** Refuses every answer that is no success. */
export function requireSuccess(status: number, host: string): void {
  if (status >= 200 && status < 300) return
  if (status >= 300 && status < 400)
    throw new HookError('outbound.redirect', `${host} answered ${status}, a redirect`)
  throw new HookError('outbound.status', `${host} answered ${status}`)
}
