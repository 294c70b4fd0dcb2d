import type { IncomingMessage } from 'node:http'
import { Hono } from 'hono'
import type { Admission } from '../../../access/admission.ts'
import { reaches } from '../../../access/caller.ts'
import { sourceNetwork } from '../../../access/failure-limit.ts'
import { type Logins, readSessionCookie, SESSION_MS, writeSessionCookie } from '../../../access/logins.ts'
import { isLoopbackName, withoutPort } from '../../../access/site.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import type { MethodParts } from '../../../methods/method-parts.ts'
import { statusLines } from '../../../methods/status-part.ts'
import {
  CHALLENGE_HEADER,
  PROOF_HEADER,
  PROOF_PATH,
  serverAddress,
  serverProof,
} from '../../../safe/secrets/server-proof.ts'
import { apiHeaders } from '../http/http-reply.ts'
import { type ApiEnv, jsonResponse, readJsonBody } from '../rest/api-routes.ts'
import { newNonce, pageHeaders, uiFiles } from './ui-files.ts'

type PageParts = Pick<MethodParts, 'status' | 'defaultTenant' | 'clock'>

export interface PageRoutesOptions {
  readonly parts: PageParts
  readonly admission: Admission
  readonly logins: Logins
  /** Directory of the web interface, if it is installed. */
  readonly ui: string | undefined
  /** The owner's token, which the gateway proves to know. */
  readonly ownToken: string | undefined
}

/** The routes that browsers and load balancers request without a token. */
export function pageRoutes({ parts, admission, logins, ui, ownToken }: PageRoutesOptions) {
  const app = new Hono<ApiEnv>()
  const isReady = createReadiness(parts)
  const findPage = uiFiles(ui)

  app.get('/healthz', async (c) => {
    const ready = await isReady()
    const { incoming } = c.env
    const caller =
      incoming.headers.authorization === undefined ? undefined : (await admission.admit(incoming)).caller
    if (caller === undefined || !reaches(caller.role, 'viewer'))
      return jsonResponse({ ready }, ready ? 200 : 503)
    const status = await statusLines(parts.status, caller.tenant)
    return jsonResponse({ ready, status }, ready ? 200 : 503)
  })
  app.get(PROOF_PATH, (c) => {
    const challenge = c.req.header(CHALLENGE_HEADER) ?? ''
    if (ownToken === undefined || !/^[\w-]{32,128}$/.test(challenge))
      throw serverError('gateway.not_found', 'there is nothing at this address')
    const proof = serverProof(ownToken, challenge, serverAddress(c.env.incoming.socket, 'server'))
    return new Response(null, { status: 204, headers: [...apiHeaders, [PROOF_HEADER, proof]] })
  })
  app.get('/', () => redirect('/ui/'))
  app.get('/ui', () => redirect('/ui/'))
  app.get('/ui/*', async (c) => {
    const page = await findPage(c.req.path.slice('/ui/'.length), c.req.header('accept-encoding'))
    if (page === undefined) throw serverError('gateway.not_found', 'there is no such page')
    return page
  })
  app.get('/login', (c) => {
    const { incoming } = c.env
    if (incoming.method !== 'GET')
      return new Response(null, { status: 405, headers: { ...pageHeaders(newNonce()), Allow: 'GET' } })
    refusePrefetch(incoming)
    const source = sourceNetwork(incoming.socket.remoteAddress)
    const secret = logins.redeem(c.req.query('code') ?? '', source)
    return redirect('/ui/', sessionCookie(incoming, secret))
  })
  app.post('/login', async (c) => {
    const { incoming } = c.env
    const { token } = await readJsonBody(c)
    if (typeof token !== 'string' || token === '')
      throw serverError('gateway.request', 'token is required', { at: 'token' })
    const known = await admission.admitToken(incoming, token)
    // A browser has one session at a time.
    logins.end(readSessionCookie(incoming.headers.cookie ?? ''))
    const cookie = sessionCookie(incoming, logins.open(known))
    return new Response(null, { status: 204, headers: [...apiHeaders, ['Set-Cookie', cookie]] })
  })
  app.post('/logout', async (c) => {
    const { incoming } = c.env
    await admission.admit(incoming)
    logins.end(readSessionCookie(incoming.headers.cookie ?? ''))
    return redirect('/ui/', writeSessionCookie('', { secure: false, maxAgeMs: 0 }))
  })
  return app
}

function sessionCookie({ headers }: IncomingMessage, secret: string): string {
  const secure = !isLoopbackName(withoutPort(headers.host ?? ''))
  return writeSessionCookie(secret, { secure, maxAgeMs: SESSION_MS })
}

/** Anyone may request /healthz, so requests within this time share one check. */
const READINESS_MS = 500

function createReadiness({ status, defaultTenant, clock }: PageParts): () => Promise<boolean> {
  let latest: Promise<boolean> | undefined
  let checkedAt = 0
  return () => {
    if (latest === undefined || clock.elapsed() - checkedAt >= READINESS_MS) {
      checkedAt = clock.elapsed()
      latest = statusLines(status, defaultTenant).then(
        (lines) => lines.every(({ state }) => state !== 'bad'),
        () => false,
      )
    }
    return latest
  }
}

/** A login link works once: link previews and prefetches must not use it up. */
function refusePrefetch({ headers }: IncomingMessage): void {
  // Some browsers send no Sec-Fetch-Mode, and over plain http none does.
  const isNavigation = (headers['sec-fetch-mode'] ?? 'navigate') === 'navigate'
  const isPrefetch = headers['sec-purpose'] !== undefined || headers.purpose !== undefined
  if (!isNavigation || isPrefetch)
    throw serverError('gateway.request', 'open the login link in a browser window')
}

/** Status 303 keeps the URL with the login code out of the browser history. */
function redirect(location: string, cookie?: string): Response {
  const headers = new Headers({ ...pageHeaders(newNonce()), Location: location })
  if (cookie !== undefined) headers.set('Set-Cookie', cookie)
  return new Response(null, { status: 303, headers })
}
