import type { IncomingMessage } from 'node:http'
import { serverError } from '../../engine/core/server-errors.ts'

/** Names that nobody can point elsewhere. */
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|localhost|::1)$/i

/** There is no token at this door, so that nobody but this machine may knock. */
export function checkLoopback(host: string): void {
  if (LOOPBACK.test(host)) return
  throw serverError('gateway.exposed', `${host} can be reached from the network`, {
    hint: 'Listen on 127.0.0.1; whoever is elsewhere starts a proxy of their own.',
  })
}

/**
 * Throws for a page of another site, and for a name that is not ours: a page can have its own name point here, and is
 * then of the same origin as we are.
 */
export function checkCaller({ headers, socket }: IncomingMessage): void {
  const host = headers.host?.toLowerCase() ?? ''
  const names = ['localhost', '127.0.0.1', '[::1]', socket.localAddress ?? '']
  const port = socket.localPort === 80 ? /(?::80)?$/ : new RegExp(`:${socket.localPort}$`)
  if (!port.test(host) || !names.includes(host.replace(port, '')))
    throw serverError('auth.host', 'the proxy is not called by this name', { hint: 'Call it by 127.0.0.1.' })
  if (headers.origin !== undefined && headers.origin.toLowerCase() !== `http://${host}`)
    throw serverError('auth.origin', 'the page that sent this may not call the proxy', {
      hint: 'Only programs on this machine use the proxy.',
    })
}
