import type { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { serverError } from '../../engine/core/server-errors.ts'
import { isLoopbackName, placeOf } from '../auth/address.ts'
import type { Admission } from '../auth/admission.ts'
import { reaches } from '../auth/caller.ts'
import { readCookie, writeCookie } from '../auth/cookie.ts'
import { type Logins, SESSION_MS } from '../auth/logins.ts'
import { withoutPort } from '../auth/site.ts'
import type { GatewayParts } from '../parts.ts'
import { answer } from '../rest/routes.ts'
import { statusLines } from '../status.ts'
import { newNonce, pageHeaders } from './page-headers.ts'
import { createReadiness } from './readiness.ts'
import { uiOf } from './ui.ts'

export interface PageOptions {
  readonly parts: GatewayParts
  readonly admission: Admission
  readonly logins: Logins
  /** Where the web interface lies, if it is installed. */
  readonly ui: string | undefined
}

/** What a browser or a load balancer asks for before it has a token. */
export function pageRoutes({ parts, admission, logins, ui }: PageOptions) {
  const app = new Hono<{ Bindings: HttpBindings }>()
  const isReady = createReadiness(parts)
  const pages = uiOf(ui)

  app.get('/healthz', async (c) => {
    const ready = await isReady()
    const { incoming } = c.env
    const caller =
      incoming.headers.authorization === undefined ? undefined : (await admission.admit(incoming)).caller
    if (caller === undefined || !reaches(caller.role, 'viewer'))
      return answer(JSON.stringify({ ready }), ready ? 200 : 503)
    const status = await statusLines(parts.status, caller.tenant)
    return answer(JSON.stringify({ ready, status }), ready ? 200 : 503)
  })
  app.get('/', () => redirect('/ui/'))
  app.get('/ui', () => redirect('/ui/'))
  app.get('/ui/*', async (c) => {
    const found = await pages(c.req.path.slice('/ui/'.length))
    if (found === undefined) throw serverError('gateway.not_found', 'there is no such page')
    return found
  })
  app.get('/login', (c) => {
    const { incoming } = c.env
    if (incoming.method !== 'GET')
      return new Response(null, { status: 405, headers: { ...pageHeaders(newNonce()), Allow: 'GET' } })
    refuseLookers(incoming)
    const secret = logins.redeem(c.req.query('code') ?? '', placeOf(incoming.socket.remoteAddress))
    const secure = !isLoopbackName(withoutPort(incoming.headers.host ?? ''))
    return redirect('/ui/', writeCookie(secret, { secure, maxAgeMs: SESSION_MS }))
  })
  app.post('/logout', async (c) => {
    const { incoming } = c.env
    await admission.admit(incoming)
    logins.end(readCookie(incoming.headers.cookie ?? ''))
    return redirect('/ui/', writeCookie('', { secure: false, maxAgeMs: 0 }))
  })
  return app
}

/** The link works once, so it is kept for the person who opens it: a preview or a prefetch must not use it up. */
function refuseLookers({ headers }: IncomingMessage): void {
  // Not every browser says how it asks, and on a plain http address none does.
  const isNavigation = (headers['sec-fetch-mode'] ?? 'navigate') === 'navigate'
  const isAhead = headers['sec-purpose'] !== undefined || headers.purpose !== undefined
  if (!isNavigation || isAhead)
    throw serverError('gateway.request', 'a login link is opened by a person, in a browser')
}

/** By 303, so that the address with the code leaves the history of the browser. */
function redirect(location: string, cookie?: string): Response {
  const headers = new Headers({ ...pageHeaders(newNonce()), Location: location })
  if (cookie !== undefined) headers.set('Set-Cookie', cookie)
  return new Response(null, { status: 303, headers })
}
