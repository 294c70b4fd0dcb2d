import type { IncomingMessage } from 'node:http'
import { serverError } from '../../engine/core/server-errors.ts'
import { isLoopbackName } from './address.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Under which names we are called, and which pages may call. */
export interface Site {
  /** Throws `auth.host` or `auth.origin`. */
  check(request: IncomingMessage): void
  /** Whether a page of our own sent it, rather than somebody whose browser does not say. */
  isOwnPage(request: IncomingMessage): boolean
  /** From now on also under this address. */
  add(address: ListenAddress): void
}

interface SiteOptions {
  /** Names beside the addresses we listen on: `name`, or `name:port`. */
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
}

export function createSite({ hosts = [], origins = [] }: SiteOptions): Site {
  const names = new Set(hosts.map((host) => host.toLowerCase()))
  const foreign = new Set(origins.map((origin) => origin.toLowerCase()))

  const isOwnHost = (request: IncomingMessage, host: string) =>
    names.has(host) || names.has(withoutPort(host)) || host === localAddress(request)

  const isOwnPage = (request: IncomingMessage): boolean => {
    const origin = request.headers.origin?.toLowerCase()
    if (origin === undefined) return false
    const host = request.headers.host?.toLowerCase()
    // The scheme is the proxy's business: behind one that ends TLS we are called by http for an https page.
    return origin === `http://${host}` || origin === `https://${host}` || foreign.has(origin)
  }

  return {
    check(request) {
      const host = request.headers.host?.toLowerCase() ?? ''
      if (!isOwnHost(request, host)) throw serverError('auth.host', 'the gateway is not called by this name')
      // Programs send no origin; a page always does where it could do harm, and `null` is a page that hides.
      if (request.headers.origin !== undefined && !isOwnPage(request))
        throw serverError('auth.origin', 'the page that sent this may not call the gateway')
    },
    isOwnPage,
    add(address) {
      for (const name of namesOf(address)) names.add(name)
    },
  }
}

/** An address cannot be rebound, only a name can: loopback answers to all its names, the rest to its own. */
function namesOf({ host, port }: ListenAddress): string[] {
  const bare = host.includes(':') ? `[${host}]` : host
  const all = isLoopbackName(bare) || EVERYWHERE.has(bare) ? ['localhost', '127.0.0.1', '[::1]'] : [bare]
  return all.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]))
}

const EVERYWHERE = new Set(['0.0.0.0', '[::]'])

/** Where we listen on every address, the one this connection came to. */
function localAddress({ socket }: IncomingMessage): string {
  const address = socket.localAddress?.replace(/^::ffff:/, '') ?? ''
  return `${address.includes(':') ? `[${address}]` : address}:${socket.localPort}`
}

export function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '')
}
