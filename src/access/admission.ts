import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import { serverError } from '../engine/core/errors/server-errors.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import { sameText } from '../safe/secrets/token.ts'
import type { Store } from '../store/store.ts'
import type { Caller } from './caller.ts'
import { isSessionKey, type Logins, readSessionCookie } from './logins.ts'
import type { Site } from './site.ts'
import { MASTER_TENANT } from './tenant-tables.ts'
import { type AdmittedCaller, invalidTokenError, type KnownToken, type Tokens } from './tokens.ts'

export interface AdmissionOptions {
  readonly store: Pick<Store, 'findTenant'>
  readonly clock: Clock
  readonly site: Site
  readonly tokens: Tokens
  readonly logins: Logins
}

const FRESH_MS = 5_000
const BEARER = /^Bearer +[\x21-\x7e]+$/i
const BEARER_LENGTH = 'Bearer '.length
/** URLs end up in logs and browser histories, so a token in a URL is compromised. */
const TOKEN_IN_QUERY = /[?&](?:token|access_token|auth_token|api_key)=/i
const SAFE_VERBS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Authenticates requests and upgrades. */
export class Admission {
  readonly #site: Site
  readonly #tokens: Tokens
  readonly #logins: Logins
  readonly #findTenant: ReturnType<typeof createTenantFinder>
  /** Most connections repeat their header; comparing it costs a tenth of hashing the token again. */
  readonly #sentBefore = new WeakMap<Socket, { readonly authorization: string; readonly known: KnownToken }>()

  constructor(options: AdmissionOptions) {
    this.#site = options.site
    this.#tokens = options.tokens
    this.#logins = options.logins
    this.#findTenant = createTenantFinder(options)
  }

  /** Returns without a promise if the token is cached. Throws or rejects with a coded error. */
  admit(request: IncomingMessage): AdmittedCaller | Promise<AdmittedCaller> {
    this.#site.check(request)
    const url = request.url ?? ''
    if (url.includes('?') && TOKEN_IN_QUERY.test(url))
      throw serverError('auth.token', 'a token in the URL is refused, valid or not')
    const named = request.headers['x-hookhelm-tenant'] ?? tenantOfUpgrade(request)
    const admitted = this.#identify(request)
    if (named === undefined) return admitted
    if (typeof named !== 'string') throw serverError('gateway.request', 'X-Hookhelm-Tenant names two tenants')
    return Promise.resolve(admitted).then((known) => this.#actFor(named, known))
  }

  /** Admits the token that a page of the gateway sends in a body. */
  admitToken(request: IncomingMessage, token: string): AdmittedCaller | Promise<AdmittedCaller> {
    if (!this.#site.isOwnPage(request))
      throw serverError('auth.origin', 'a token is accepted only from pages of the gateway')
    return this.#tokens.find(token, request.socket.remoteAddress)
  }

  /** Whether the token or session of an open connection is still valid. */
  async isStillValid({ key, token }: AdmittedCaller): Promise<boolean> {
    if (!isSessionKey(key)) return this.#tokens.isStillValid(key)
    return this.#logins.isStillValid(key) && (token === undefined || (await this.#tokens.isStillValid(token)))
  }

  #byToken(authorization: string, socket: Socket): KnownToken | Promise<KnownToken> {
    const before = this.#sentBefore.get(socket)
    const isSame = before !== undefined && sameText(authorization, before.authorization)
    if (isSame && this.#tokens.isFresh(before.known)) return before.known
    if (!BEARER.test(authorization)) throw invalidTokenError()
    const known = this.#tokens.find(authorization.slice(BEARER_LENGTH).trimStart(), socket.remoteAddress)
    if (!(known instanceof Promise)) this.#sentBefore.set(socket, { authorization, known })
    return known
  }

  #identify(request: IncomingMessage): AdmittedCaller | Promise<AdmittedCaller> {
    const { authorization, cookie } = request.headers
    if (authorization !== undefined) return this.#byToken(authorization, request.socket)
    const admitted = cookie === undefined ? undefined : this.#logins.find(readSessionCookie(cookie))
    if (admitted === undefined) throw invalidTokenError()
    // Cookies ignore ports: the browser also sends ours from pages of other programs on this machine.
    const isUpgrade = request.headers.upgrade !== undefined
    if ((isUpgrade || !SAFE_VERBS.has(request.method ?? '')) && !this.#site.isOwnPage(request))
      throw serverError('auth.origin', 'a session cookie is accepted only from pages of the gateway')
    return admitted.token === undefined ? admitted : this.#whileTokenIsValid(admitted, admitted.token)
  }

  /** The session of a token ends when the token is revoked or expires. */
  async #whileTokenIsValid(admitted: AdmittedCaller, token: string): Promise<AdmittedCaller> {
    if (await this.#tokens.isStillValid(token)) return admitted
    throw invalidTokenError()
  }

  /** A master caller can act for any tenant; other callers can name only their own. */
  async #actFor(named: string, admitted: AdmittedCaller): Promise<AdmittedCaller> {
    const { caller } = admitted
    if (named === caller.tenant) return admitted
    const tenant = caller.master && named === MASTER_TENANT ? named : await this.#findTenant(named)
    if (tenant === caller.tenant) return admitted
    // The same error whether or not the tenant exists.
    if (!caller.master) throw serverError('auth.scope', 'the token belongs to another tenant')
    if (tenant === undefined)
      throw serverError('gateway.not_found', 'there is no tenant with that id or name')
    const acting: Caller = { ...caller, tenant }
    return { ...admitted, caller: acting }
  }
}

/** A browser cannot send headers with an upgrade, so its address may name the tenant. */
function tenantOfUpgrade({ headers, url = '' }: IncomingMessage): string | undefined {
  if (headers.upgrade === undefined || !url.includes('?')) return undefined
  return new URLSearchParams(url.slice(url.indexOf('?'))).get('tenant') ?? undefined
}

interface FoundTenant {
  readonly id: string
  readonly at: number
  readonly epoch: number
}

/**
 * Finds tenants by id or name, with a short cache: a master caller may dispatch for many. A deletion begins a new epoch,
 * because a call for a tenant that is gone would write rows that no deletion finds.
 */
function createTenantFinder({ store, clock, tokens }: Pick<AdmissionOptions, 'store' | 'clock' | 'tokens'>) {
  const found = new LRUCache<string, FoundTenant>({ max: 1_000 })
  return async (idOrName: string): Promise<string | undefined> => {
    const known = found.get(idOrName)
    const epoch = tokens.epoch
    if (known !== undefined && known.epoch === epoch && clock.elapsed() - known.at < FRESH_MS) return known.id
    const row = await store.findTenant(idOrName)
    if (row !== undefined) found.set(idOrName, { id: row.id, at: clock.elapsed(), epoch })
    return row?.id
  }
}
