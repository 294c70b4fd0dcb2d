import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import { serverError } from '../../engine/core/server-errors.ts'
import { sameText } from '../../safe/token.ts'
import { MASTER_TENANT } from '../../store/stores/tenant-store.ts'
import type { GatewayParts } from '../parts.ts'
import type { Caller } from './caller.ts'
import { readCookie } from './cookie.ts'
import { isSessionKey, type Logins } from './logins.ts'
import type { Site } from './site.ts'
import { type Admitted, badToken, type Known, type Tokens } from './tokens.ts'

/** The one place that decides who comes in, for requests and upgrades alike. */
export interface Admission {
  /** Answers at once where it can; throws or rejects with a coded error. */
  admit(request: IncomingMessage): Admitted | Promise<Admitted>
  /** Whether somebody who came in and stayed may still be here. */
  isStillRight(admitted: Admitted): Promise<boolean>
}

export interface AdmissionOptions {
  readonly parts: Pick<GatewayParts, 'store' | 'clock'>
  readonly site: Site
  readonly tokens: Tokens
  readonly logins: Logins
}

const FRESH_MS = 5_000
const BEARER = /^Bearer +[\x21-\x7e]+$/i
const BEARER_LENGTH = 'Bearer '.length
/** Addresses end up in logs and histories, so a token in one counts as lost. */
const TOKEN_IN_QUERY = /[?&](?:token|access_token|auth_token|api_key)=/i
const SAFE_VERBS = new Set(['GET', 'HEAD', 'OPTIONS'])

export function createAdmission(options: AdmissionOptions): Admission {
  const { site, tokens, logins } = options
  const findTenant = createTenantFinder(options.parts)

  /** What a connection sent last it mostly sends again; comparing it costs a tenth of hashing it. */
  const sentBefore = new WeakMap<Socket, { readonly authorization: string; readonly known: Known }>()

  function byToken(authorization: string, socket: Socket): Known | Promise<Known> {
    const before = sentBefore.get(socket)
    if (before !== undefined && sameText(authorization, before.authorization) && tokens.isFresh(before.known))
      return before.known
    if (!BEARER.test(authorization)) throw badToken()
    const known = tokens.find(authorization.slice(BEARER_LENGTH).trimStart(), socket.remoteAddress)
    if (!(known instanceof Promise)) sentBefore.set(socket, { authorization, known })
    return known
  }

  function identify(request: IncomingMessage): Admitted | Promise<Admitted> {
    const { authorization, cookie } = request.headers
    if (authorization !== undefined) {
      return byToken(authorization, request.socket)
    }
    const admitted = cookie === undefined ? undefined : logins.find(readCookie(cookie))
    if (admitted === undefined) throw badToken()
    // Cookies do not tell ports apart: a page of another program on this machine would be let in by ours.
    const isUpgrade = request.headers.upgrade !== undefined
    if ((isUpgrade || !SAFE_VERBS.has(request.method ?? '')) && !site.isOwnPage(request))
      throw serverError('auth.origin', 'a session works only for our own pages')
    return admitted
  }

  /** A master caller works for whom it names; everybody else only for their own tenant, by whatever name. */
  async function actFor(named: string, admitted: Admitted): Promise<Admitted> {
    const { caller } = admitted
    if (named === caller.tenant) return admitted
    const tenant = caller.master && named === MASTER_TENANT ? named : await findTenant(named)
    if (tenant === caller.tenant) return admitted
    // The same words whether the tenant is there or not.
    if (!caller.master) throw serverError('auth.scope', 'the token belongs to another tenant')
    if (tenant === undefined) throw serverError('gateway.not_found', 'there is no tenant of that name')
    const inItsName: Caller = { ...caller, tenant }
    return { ...admitted, caller: inItsName }
  }

  return {
    admit(request) {
      site.check(request)
      const url = request.url ?? ''
      if (url.includes('?') && TOKEN_IN_QUERY.test(url))
        throw serverError('auth.token', 'a token in the address is refused, right or wrong')
      const named = request.headers['x-hookhelm-tenant']
      const admitted = identify(request)
      if (named === undefined) return admitted
      if (typeof named !== 'string')
        throw serverError('gateway.request', 'X-Hookhelm-Tenant names two tenants')
      return Promise.resolve(admitted).then((known) => actFor(named, known))
    },
    isStillRight: async ({ key }) =>
      isSessionKey(key) ? logins.isStillRight(key) : await tokens.isStillRight(key),
  }
}

/** Tenants by id or name, remembered for a moment: a master caller may dispatch for many. */
function createTenantFinder({ store, clock }: AdmissionOptions['parts']) {
  const found = new LRUCache<string, { readonly id: string; readonly at: number }>({ max: 1_000 })
  return async (idOrName: string): Promise<string | undefined> => {
    const known = found.get(idOrName)
    if (known !== undefined && clock.elapsed() - known.at < FRESH_MS) return known.id
    const row = await store.findTenant(idOrName)
    if (row !== undefined) found.set(idOrName, { id: row.id, at: clock.elapsed() })
    return row?.id
  }
}
