import { randomUUID } from 'node:crypto'
import type { Clock } from '../../engine/core/clock.ts'
import type { Edition } from '../../engine/core/edition.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { hashToken, newToken } from '../../safe/token.ts'
import type { Store } from '../../store/store.ts'
import { MASTER_TENANT } from '../../store/stores/tenant-store.ts'
import { type Home, readPrivate, writePrivate } from './home.ts'

const DEFAULT_TENANT = 'default'

/** The tenant of everybody who names none; made at the first start. */
export async function defaultTenant(store: Store, edition: Edition, clock: Clock): Promise<string> {
  const tenants = await store.listTenants({ limit: 2 })
  const own = tenants.filter(({ id }) => id !== MASTER_TENANT)
  if (edition === 'lite' && own.length > 1)
    throw serverError(
      'gateway.setting',
      'this database has several tenants, and the lite edition serves one',
      {
        hint: 'Start it with `--edition standard`.',
      },
    )
  const known = (await store.findTenant(DEFAULT_TENANT)) ?? (own.length === 1 ? own[0] : undefined)
  if (known !== undefined) return known.id
  const id = randomUUID()
  try {
    await store.createTenant({ id, name: DEFAULT_TENANT, created_at: clock.now() })
    return id
  } catch (thrown) {
    // Another node starts at the same moment.
    const theirs = await store.findTenant(DEFAULT_TENANT)
    if (theirs === undefined) throw thrown
    return theirs.id
  }
}

/** Nobody has seen the token that a first start makes, so the network must wait for the second. */
export function refuseExposed(host: string, home: Home): void {
  if (/^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host) || keptToken(home.token) !== undefined) return
  throw serverError(
    'gateway.exposed',
    `${host} can be reached from the network, and no token has been made yet`,
    {
      hint: `Start it once on 127.0.0.1, or write a token of your own into ${home.token} (chmod 600).`,
    },
  )
}

/**
 * The owner's token, in a file that only they can read. The file is written before the row, so that a start which fails in
 * between leaves no token that nobody has.
 */
export async function adminToken(path: string, store: Store, clock: Clock): Promise<string> {
  const kept = keptToken(path)
  const token = kept ?? newToken()
  if (kept === undefined) writePrivate(path, `${token}\n`)
  else if (await isKnownOrRevoked(kept, store)) return kept
  await store.createToken({
    id: randomUUID(),
    tenant_id: MASTER_TENANT,
    name: 'admin',
    role: 'owner',
    agent_id: null,
    created_at: clock.now(),
    expires_at: null,
    hash: hashToken(token),
  })
  return token
}

/** A new database gets to know the token that is there. One that has an owner may have had this one revoked. */
async function isKnownOrRevoked(token: string, store: Store): Promise<boolean> {
  if ((await store.findToken(hashToken(token))) !== undefined) return true
  return (await store.listTokens(MASTER_TENANT)).some(({ role }) => role === 'owner')
}

/** The token in the file; an empty file has none yet. */
function keptToken(path: string): string | undefined {
  const kept = readPrivate(path)?.trim()
  if (kept === undefined || kept === '') return undefined
  if (!LIKE_A_TOKEN.test(kept))
    throw serverError('gateway.setting', `${path} holds no token`, {
      hint: 'A token has at least 32 printable ASCII characters and no blanks. Empty the file, and the next start makes one.',
    })
  return kept
}

/** Ours have 46 characters; what a header cannot carry would open nothing. */
const LIKE_A_TOKEN = /^[\x21-\x7e]{32,}$/
