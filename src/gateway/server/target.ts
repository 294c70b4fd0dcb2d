import type { IncomingMessage } from 'node:http'
import { serverError } from '../../engine/core/server-errors.ts'

/** What the router could make no address of: `*`, a path with a backslash, an address without a host. */
export function checkTarget({ url = '' }: IncomingMessage): void {
  const [path = ''] = url.split('?', 1)
  const isAddress = path.startsWith('/') || /^https?:\/\//.test(path)
  // As the router does: a path that begins with two slashes is none with a host.
  const whole = path.startsWith('/') ? `http://gateway${url}` : url
  if (isAddress && !path.includes('\\') && URL.canParse(whole)) return
  throw serverError('gateway.protocol', 'the request names no path')
}
