import { randomBytes } from 'node:crypto'
import type { Clock } from '../../engine/core/clock.ts'
import { tooSoon } from '../../engine/core/retry-after.ts'
import { hashToken, sameToken } from '../../safe/token.ts'
import type { Caller } from './caller.ts'
import { createFailures } from './failures.ts'
import { type Admitted, badToken } from './tokens.ts'

/** One-time links that open a session in a browser, which then needs no token of its own. */
export interface Logins {
  /** The path of a link that works once within ten minutes. */
  issue(): string
  /** Turns the code of a link into the secret of a session. */
  redeem(code: string, from: string): string
  find(secret: string): Admitted | undefined
  isStillRight(key: string): boolean
  end(secret: string): void
}

const CODE_MS = 10 * 60_000
export const SESSION_MS = 12 * 60 * 60_000
const MAX_CODES = 20
const MAX_SESSIONS = 1_000
/** Of everybody together: more than this a minute is no person with a link. */
const MOST_BAD_CODES = 100
const PREFIX = 'session '

interface Session {
  readonly admitted: Admitted
  readonly expiresAt: number
}

/** Kept in memory and as digests: after a restart a new link is printed anyway. */
export function createLogins(clock: Clock, caller: Caller): Logins {
  const codes = new Map<string, { readonly hash: Buffer; readonly expiresAt: number }>()
  const sessions = new Map<string, Session>()
  const byAddress = createFailures(clock)
  const byAccount = createFailures(clock, MOST_BAD_CODES)

  /** Every code is compared, so that the time taken tells nothing about any of them. */
  function take(code: string): boolean {
    let found: string | undefined
    for (const [key, { hash, expiresAt }] of codes) {
      if (sameToken(code, hash) && clock.now() < expiresAt) found = key
    }
    return found !== undefined && codes.delete(found)
  }

  function live(key: string): Session | undefined {
    const session = sessions.get(key)
    if (session !== undefined && clock.now() < session.expiresAt) return session
    sessions.delete(key)
    return undefined
  }

  return {
    issue() {
      const code = secret()
      makeRoom(codes, MAX_CODES)
      codes.set(keyOf(code), { hash: hashToken(code), expiresAt: clock.now() + CODE_MS })
      return `/login?code=${code}`
    },
    redeem(code, from) {
      const wait = Math.max(byAddress.wait(from), byAccount.wait(caller.name))
      if (wait > 0) throw tooSoon('auth.blocked', 'too many bad logins', wait)
      if (!take(code)) {
        byAddress.count(from)
        byAccount.count(caller.name)
        throw badToken()
      }
      const fresh = secret()
      const key = keyOf(fresh)
      makeRoom(sessions, MAX_SESSIONS)
      sessions.set(key, { admitted: { caller, key }, expiresAt: clock.now() + SESSION_MS })
      return fresh
    },
    find: (given) => live(keyOf(given))?.admitted,
    isStillRight: (key) => live(key) !== undefined,
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

/** Looked up by digest: what an attacker sends decides nothing about where the search ends. */
function keyOf(given: string): string {
  return PREFIX + hashToken(given).toString('base64')
}

function makeRoom(map: Map<string, unknown>, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size < most) return
    map.delete(oldest)
  }
}
