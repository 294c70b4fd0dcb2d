import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { tooSoon } from '../../engine/core/retry-after.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { hashToken } from '../../safe/token.ts'
import { MASTER_TENANT, type TokenRow } from '../../store/stores/tenant-store.ts'
import type { GatewayParts } from '../parts.ts'
import { placeOf } from './address.ts'
import type { Caller } from './caller.ts'
import { createFailures } from './failures.ts'

/** Somebody who showed who they are. */
export interface Admitted {
  readonly caller: Caller
  /** Where to look again whether that still holds: `isStillRight`. */
  readonly key: string
}

/** By a token, as it was read from the store. */
export interface Known extends Admitted {
  readonly hash: Buffer
  readonly expiresAt: number
  readonly readAt: number
  readonly epoch: number
}

/** Who a token belongs to. */
export interface Tokens {
  /** At once for a token that was read within the last seconds. Throws or rejects with `auth.token` or `auth.blocked`. */
  find(token: string, address: string | undefined): Known | Promise<Known>
  /** Whether what `find` answered may be used once more without asking. */
  isFresh(known: Known): boolean
  /** Whether a token that was right has neither expired nor been revoked since. */
  isStillRight(key: string): Promise<boolean>
  /** Reads every token anew, after one was deleted. */
  forget(): void
}

/** How long a token that another node deleted may still be taken for right. */
const FRESH_MS = 5_000
/** For connections that stay open: with their look every 2 s this is less than `FRESH_MS` together. */
const RECHECK_MS = 2_500
const MAX_KNOWN = 10_000

type Parts = Pick<GatewayParts, 'store' | 'clock' | 'defaultTenant'>

export function createTokens({ store, clock, defaultTenant }: Parts): Tokens {
  const known = new LRUCache<string, Known>({ max: MAX_KNOWN })
  const reading = new Map<string, Promise<Known | undefined>>()
  const failures = createFailures(clock)
  /**
   * Raised by `forget`: what was read before, or is under way then, no longer counts. It is kept all the same, because
   * that it was right before tells it from a guess.
   */
  let epoch = 0

  const isFresh = (entry: Known, age: number) => entry.epoch === epoch && clock.elapsed() - entry.readAt < age
  const isLive = (entry: Known) => clock.now() < entry.expiresAt
  const isUsable = (entry: Known) => isFresh(entry, FRESH_MS) && isLive(entry)

  async function ask(key: string, hash: Buffer): Promise<Known | undefined> {
    const asked = epoch
    const row = await store.findToken(hash)
    if (row === undefined) {
      known.delete(key)
      return undefined
    }
    const entry = { ...toKnown(row, defaultTenant), key, hash, readAt: clock.elapsed(), epoch: asked }
    known.set(key, entry)
    return entry
  }

  /** Many requests with one token ask the store once. */
  function read(key: string, hash: Buffer): Promise<Known | undefined> {
    const under = reading.get(key)
    if (under !== undefined) return under
    const asking = ask(key, hash).finally(() => {
      if (reading.get(key) === asking) reading.delete(key)
    })
    reading.set(key, asking)
    return asking
  }

  async function look(key: string, hash: Buffer, address: string | undefined): Promise<Known> {
    const from = placeOf(address)
    const wasRight = known.has(key)
    // A token that was right is looked at even when its address is blocked: nobody guesses 256 bits, so the block only
    // saves the store work, and a neighbour behind the same proxy must not be able to close the gates of everybody.
    const wait = wasRight ? 0 : Math.max(failures.wait(from), failures.wait(key))
    if (wait > 0) throw tooSoon('auth.blocked', 'too many bad tokens came from here', wait)
    const entry = await read(key, hash)
    if (entry !== undefined && isLive(entry)) return entry
    failures.count(from)
    failures.count(key)
    throw badToken()
  }

  return {
    find(token, address) {
      const hash = hashToken(token)
      const key = hash.toString('latin1')
      const entry = known.get(key)
      if (entry !== undefined && isUsable(entry) && timingSafeEqual(hash, entry.hash)) return entry
      return look(key, hash, address)
    },
    isFresh: isUsable,
    async isStillRight(key) {
      const entry = known.get(key)
      if (entry !== undefined && isFresh(entry, RECHECK_MS)) return isLive(entry)
      const again = await read(key, Buffer.from(key, 'latin1'))
      return again !== undefined && isLive(again)
    },
    forget() {
      epoch += 1
      reading.clear()
    },
  }
}

export function badToken(): Error {
  return serverError('auth.token', 'the request carries no valid token')
}

function toKnown(row: TokenRow, defaultTenant: string): Pick<Known, 'caller' | 'expiresAt'> {
  const master = row.tenant_id === MASTER_TENANT
  return {
    expiresAt: row.expires_at ?? Number.POSITIVE_INFINITY,
    caller: {
      tenant: master ? defaultTenant : row.tenant_id,
      role: row.role,
      master,
      name: row.name,
      agentId: row.agent_id ?? undefined,
    },
  }
}
