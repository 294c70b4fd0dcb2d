import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

/** What concerns one connection and not the message. */
const hop = [
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'content-length'],
]
/** Ours: the server has another name, sees no page, and its answer must be readable here. */
const notForServer = new Set([...hop, 'host', 'origin', 'referer', 'accept-encoding'])
/** The body is decoded, and may be another one. */
const notForClient = new Set([...hop, 'content-encoding'])

export function headersForServer(headers: IncomingHttpHeaders): Record<string, string> {
  const named = namedIn(headers.connection)
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || notForServer.has(name) || named.has(name) || name.startsWith('sec-fetch-')
      ? []
      : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
  )
  return { ...Object.fromEntries(given), 'accept-encoding': 'identity' }
}

export function headersForClient(headers: Headers): OutgoingHttpHeaders {
  const given: OutgoingHttpHeaders = {}
  for (const [name, value] of headers) if (!notForClient.has(name)) given[name] = value
  const cookies = headers.getSetCookie()
  return cookies.length === 0 ? given : { ...given, 'set-cookie': cookies }
}

/** Headers that the client marked as meant for this connection alone. */
function namedIn(connection: string | undefined): Set<string> {
  return new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
}

export function isEventStream(headers: Headers): boolean {
  return /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
}
