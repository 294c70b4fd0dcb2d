import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import { serverError } from '../engine/core/errors/server-errors.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** The accepted Host and Origin headers. */
export interface Site {
  /** Throws `auth.host` or `auth.origin`. */
  check(request: IncomingMessage): void
  /** Whether a page of the gateway sent the request. A request without an origin does not count. */
  isOwnPage(request: IncomingMessage): boolean
  /** Accepts the address as a Host header too. */
  add(address: ListenAddress): void
}

interface SiteOptions {
  /** Names besides the listen addresses: `name`, or `name:port`. */
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
  /** The address that people use, if an administrator has set one. */
  publicUrl?(): string | undefined
}

export function createSite({ hosts = [], origins = [], publicUrl }: SiteOptions): Site {
  const names = new Set(hosts.map((host) => host.toLowerCase()))
  const foreign = new Set(origins.map((origin) => origin.toLowerCase()))

  const isOwnHost = (request: IncomingMessage, host: string) =>
    names.has(host) ||
    names.has(withoutPort(host)) ||
    host === localAddress(request) ||
    (host !== '' && host === hostOf(publicUrl?.()))

  const isOwnPage = (request: IncomingMessage): boolean => {
    const origin = request.headers.origin?.toLowerCase()
    if (origin === undefined) return false
    const host = request.headers.host?.toLowerCase()
    // Either scheme: behind a proxy that terminates TLS an https page arrives over http.
    return origin === `http://${host}` || origin === `https://${host}` || foreign.has(origin)
  }

  return {
    check(request) {
      const host = request.headers.host?.toLowerCase() ?? ''
      if (!isOwnHost(request, host))
        throw serverError('auth.host', 'the Host header does not name this gateway')
      // Programs send no origin. Browsers always send one with a harmful request; `null` is a page without an origin.
      if (request.headers.origin !== undefined && !isOwnPage(request))
        throw serverError('auth.origin', 'pages of this origin may not call the gateway')
    },
    isOwnPage,
    add(address) {
      for (const name of namesOf(address)) names.add(name)
    },
  }
}

function hostOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : URL.parse(url)?.host
}

/** DNS rebinding works with names, not with addresses: loopback accepts all its names, other addresses only themselves. */
function namesOf({ host, port }: ListenAddress): string[] {
  const bare = host.includes(':') ? `[${host}]` : host
  const all = isLoopbackName(bare) || EVERYWHERE.has(bare) ? ['localhost', '127.0.0.1', '[::1]'] : [bare]
  return all.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]))
}

const EVERYWHERE = new Set(['0.0.0.0', '[::]'])

/** The local address of this connection, for servers that listen on every address. */
function localAddress({ socket }: IncomingMessage): string {
  const address = socket.localAddress?.replace(/^::ffff:/, '') ?? ''
  return `${address.includes(':') ? `[${address}]` : address}:${socket.localPort}`
}

export function isLoopbackName(name: string): boolean {
  if (name === 'localhost') return true
  const bare = name.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback'
}

export function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '')
}
