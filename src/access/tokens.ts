import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { HookError } from '../engine/core/errors/error.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import { tooSoon } from '../engine/core/time/retry-after.ts'
import { createListeners } from '../engine/core/values/listeners.ts'
import { hashToken } from '../safe/secrets/token.ts'
import type { Store } from '../store/store.ts'
import type { Caller } from './caller.ts'
import { createFailureLimit, type FailureLimit, sourceNetwork } from './failure-limit.ts'
import { MASTER_TENANT, type TokenRow } from './tenant-tables.ts'

/** An authenticated caller. */
export interface AdmittedCaller {
  readonly caller: Caller
  /** For `isStillValid`. */
  readonly key: string
  /** The key of the token that a browser session was opened with; the session ends with it. */
  readonly token?: string
}

/** A token as read from the store. */
export interface KnownToken extends AdmittedCaller {
  readonly hash: Buffer
  readonly expiresAt: number
  readonly readAt: number
  readonly epoch: number
}

/** A token that another node deleted stays valid here for at most this time. */
const FRESH_MS = 5_000
/** For open connections: with their check every 2 s a revoked token ends them within `FRESH_MS`. */
const RECHECK_MS = 2_500
const MAX_KNOWN = 10_000

interface TokensOptions {
  readonly store: Pick<Store, 'findToken'>
  readonly clock: Clock
  readonly defaultTenant: string
}

/** Finds the callers of tokens. */
export class Tokens {
  readonly #options: TokensOptions
  readonly #known = new LRUCache<string, KnownToken>({ max: MAX_KNOWN })
  readonly #reading = new Map<string, Promise<KnownToken | undefined>>()
  readonly #failures: FailureLimit
  readonly #forgetting = createListeners()
  /** Calls the listener after `forget`; returns its undo. */
  readonly onForget = this.#forgetting.on
  /**
   * Raised by `forget`: entries of earlier epochs must be read again. They are kept, because a token that was valid
   * before is not a guess.
   */
  #epoch = 0

  constructor(options: TokensOptions) {
    this.#options = options
    this.#failures = createFailureLimit(options.clock)
  }

  /** Returns without a promise if the token is cached. Throws or rejects with `auth.token` or `auth.blocked`. */
  find(token: string, address: string | undefined): KnownToken | Promise<KnownToken> {
    const hash = hashToken(token)
    const key = hash.toString('latin1')
    const entry = this.#known.get(key)
    if (entry !== undefined && this.isFresh(entry) && timingSafeEqual(hash, entry.hash)) return entry
    return this.#lookUp(key, hash, address)
  }

  /** Whether a result of `find` can be used again without another lookup. */
  isFresh(entry: KnownToken): boolean {
    return this.#isYounger(entry, FRESH_MS) && this.#isLive(entry)
  }

  /** Whether a token that was valid has neither expired nor been revoked. */
  async isStillValid(key: string): Promise<boolean> {
    const entry = this.#known.get(key)
    if (entry !== undefined && this.#isYounger(entry, RECHECK_MS)) return this.#isLive(entry)
    const again = await this.#read(key, Buffer.from(key, 'latin1'))
    return again !== undefined && this.#isLive(again)
  }

  /** Reads every token again, after one was deleted. */
  readonly forget = (): void => {
    this.#epoch += 1
    this.#reading.clear()
    void this.#forgetting.notify()
  }

  /** Changes with `forget`. What else is cached about callers is valid for one epoch only. */
  get epoch(): number {
    return this.#epoch
  }

  #isYounger(entry: KnownToken, age: number): boolean {
    return entry.epoch === this.#epoch && this.#options.clock.elapsed() - entry.readAt < age
  }

  #isLive(entry: KnownToken): boolean {
    return this.#options.clock.now() < entry.expiresAt
  }

  async #readToken(key: string, hash: Buffer): Promise<KnownToken | undefined> {
    const { store, clock, defaultTenant } = this.#options
    const epoch = this.#epoch
    const row = await store.findToken(hash)
    if (row === undefined) {
      this.#known.delete(key)
      return undefined
    }
    const entry = { ...callerOf(row, defaultTenant), key, hash, readAt: clock.elapsed(), epoch }
    this.#known.set(key, entry)
    return entry
  }

  /** Concurrent requests with one token share one read. */
  #read(key: string, hash: Buffer): Promise<KnownToken | undefined> {
    const pending = this.#reading.get(key)
    if (pending !== undefined) return pending
    const started = this.#readToken(key, hash).finally(() => {
      if (this.#reading.get(key) === started) this.#reading.delete(key)
    })
    this.#reading.set(key, started)
    return started
  }

  async #lookUp(key: string, hash: Buffer, address: string | undefined): Promise<KnownToken> {
    const failures = this.#failures
    const source = sourceNetwork(address)
    const wasValid = this.#known.has(key)
    // A token that was valid is looked up even if its source is blocked: 256 bits cannot be guessed, the block only spares
    // the store, and a client behind the same proxy must not lock out the others.
    const wait = wasValid ? 0 : Math.max(failures.wait(source), failures.wait(key))
    if (wait > 0) throw tooSoon('auth.blocked', 'too many invalid tokens from this address', wait)
    const entry = await this.#read(key, hash)
    if (entry !== undefined && this.#isLive(entry)) return entry
    failures.count(source)
    failures.count(key)
    throw invalidTokenError()
  }
}

export function invalidTokenError(): HookError {
  return serverError('auth.token', 'the request carries no valid token')
}

function callerOf(row: TokenRow, defaultTenant: string): Pick<KnownToken, 'caller' | 'expiresAt'> {
  const master = row.tenant_id === MASTER_TENANT
  return {
    expiresAt: row.expires_at ?? Number.POSITIVE_INFINITY,
    caller: {
      tenant: master ? defaultTenant : row.tenant_id,
      role: row.role,
      master,
      name: row.name,
      id: row.id,
      member: row.member_id,
      agentId: row.agent_id ?? undefined,
    },
  }
}
