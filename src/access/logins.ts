import { randomBytes } from 'node:crypto'
import type { Clock } from '../engine/core/time/clock.ts'
import { tooSoon } from '../engine/core/time/retry-after.ts'
import { hashToken, sameToken } from '../safe/secrets/token.ts'
import type { Caller } from './caller.ts'
import { createFailureLimit } from './failure-limit.ts'
import { type AdmittedCaller, invalidTokenError } from './tokens.ts'

/** One-time login links, and the browser sessions that links and tokens open. */
export interface Logins {
  /** Returns the path of a link that works once within ten minutes. */
  issue(): string
  /** Exchanges the code of a link for a session secret. `source` is the network of the client. */
  redeem(code: string, source: string): string
  /** Opens a session for the caller of a token. Returns its secret. */
  open(token: AdmittedCaller): string
  /** The caller of a session. If it has a token, that must still be valid. */
  find(secret: string): AdmittedCaller | undefined
  isStillValid(key: string): boolean
  end(secret: string): void
}

const CODE_MS = 10 * 60_000
export const SESSION_MS = 12 * 60 * 60_000
const MAX_CODES = 20
const MAX_SESSIONS = 1_000
/** Per minute from all sources together. */
const MAX_BAD_CODES = 100
const PREFIX = 'session '

interface Session {
  readonly admitted: AdmittedCaller
  readonly expiresAt: number
}

/** Codes and sessions live in memory as digests; each start prints a new link. */
export function createLogins(clock: Clock, caller: Caller): Logins {
  const codes = new Map<string, { readonly hash: Buffer; readonly expiresAt: number }>()
  const sessions = new Map<string, Session>()
  const byAddress = createFailureLimit(clock)
  const byAccount = createFailureLimit(clock, MAX_BAD_CODES)

  /** Compares every code, so that the time taken reveals nothing about them. */
  function take(code: string): boolean {
    let found: string | undefined
    for (const [key, { hash, expiresAt }] of codes) {
      if (sameToken(code, hash) && clock.elapsed() < expiresAt) found = key
    }
    return found !== undefined && codes.delete(found)
  }

  function live(key: string): Session | undefined {
    const session = sessions.get(key)
    if (session !== undefined && clock.elapsed() < session.expiresAt) return session
    sessions.delete(key)
    return undefined
  }

  function begin(caller: Caller, token?: string): string {
    const fresh = secret()
    const key = keyOf(fresh)
    makeRoom(sessions, MAX_SESSIONS)
    const admitted = { caller, key, ...(token === undefined ? {} : { token }) }
    sessions.set(key, { admitted, expiresAt: clock.elapsed() + SESSION_MS })
    return fresh
  }

  return {
    issue() {
      const code = secret()
      makeRoom(codes, MAX_CODES)
      codes.set(keyOf(code), { hash: hashToken(code), expiresAt: clock.elapsed() + CODE_MS })
      return `/login?code=${code}`
    },
    redeem(code, source) {
      const wait = Math.max(byAddress.wait(source), byAccount.wait(caller.name))
      if (wait > 0) throw tooSoon('auth.blocked', 'too many failed logins', wait)
      if (!take(code)) {
        byAddress.count(source)
        byAccount.count(caller.name)
        throw invalidTokenError()
      }
      return begin(caller)
    },
    open: (token) => begin(token.caller, token.key),
    find: (given) => live(keyOf(given))?.admitted,
    isStillValid: (key) => live(key) !== undefined,
    end(given) {
      sessions.delete(keyOf(given))
    },
  }
}

export function isSessionKey(key: string): boolean {
  return key.startsWith(PREFIX)
}

function secret(): string {
  return randomBytes(32).toString('base64url')
}

/** Sessions are found by digest, so the lookup time does not depend on the secret. */
function keyOf(given: string): string {
  return PREFIX + hashToken(given).toString('base64')
}

function makeRoom(map: Map<string, unknown>, maxEntries: number): void {
  for (const oldest of map.keys()) {
    if (map.size < maxEntries) return
    map.delete(oldest)
  }
}

const COOKIE = 'hookhelm_session'

/** Returns the session secret in a Cookie header, or an empty string. */
export function readSessionCookie(header: string): string {
  for (const pair of header.split(';')) {
    const [name, value] = pair.split('=', 2)
    if (name?.trim() === COOKIE) return value?.trim() ?? ''
  }
  return ''
}

export interface SessionCookieOptions {
  /** Send the cookie over https only. Loopback has no https. */
  readonly secure: boolean
  readonly maxAgeMs: number
}

export function writeSessionCookie(secret: string, { secure, maxAgeMs }: SessionCookieOptions): string {
  const age = Math.floor(maxAgeMs / 1_000)
  return `${COOKIE}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure ? '; Secure' : ''}`
}
