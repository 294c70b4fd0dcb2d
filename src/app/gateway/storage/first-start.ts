import { randomUUID } from 'node:crypto'
import { isDemoTenant } from '../../../access/demo-tenants.ts'
import { MASTER_TENANT, OWNER_MEMBER } from '../../../access/tenant-tables.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import type { Clock } from '../../../engine/core/time/clock.ts'
import { type Edition, runsCommands } from '../../../engine/core/values/edition.ts'
import { hashToken, newToken } from '../../../safe/secrets/token.ts'
import { writePrivateFile } from '../../../safe/write-private-file.ts'
import type { Store } from '../../../store/store.ts'
import { type GatewayHome, readPrivateFile } from './gateway-home.ts'

const DEFAULT_TENANT = 'default'

/** Returns the tenant of callers that name none; creates it at the first start. */
export async function defaultTenant(store: Store, edition: Edition, clock: Clock): Promise<string> {
  // Two of them may be tenants of the demo.
  const tenants = await store.listTenants({ limit: 4 })
  const own = tenants.filter(({ id }) => id !== MASTER_TENANT && !isDemoTenant(id))
  if (edition === 'lite' && own.length > 1)
    throw serverError(
      'gateway.setting',
      'the database has several tenants, and the lite edition supports one',
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
    // Another node creates it at the same time.
    const theirs = await store.findTenant(DEFAULT_TENANT)
    if (theirs === undefined) throw thrown
    return theirs.id
  }
}

/** Refuses to listen on the network at the first start, because the owner has not seen the new token yet. */
export function assertNotExposed(host: string, home: GatewayHome): void {
  if (/^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host) || readTokenFile(home.token) !== undefined) return
  throw serverError(
    'gateway.exposed',
    `${host} is reachable from the network, and there is no admin token yet`,
    {
      hint: `Start the gateway once on 127.0.0.1, or write your own token to ${home.token} (chmod 600).`,
    },
  )
}

export interface AdminToken {
  readonly token: string
  /** False if the store does not know the token: an owner revoked it. */
  readonly isKnown: boolean
}

/**
 * Reads the owner's token from its file, or creates it. The file is written before the row, so a start that fails in
 * between leaves no token without a file.
 */
export async function adminToken(path: string, store: Store, clock: Clock): Promise<AdminToken> {
  const existing = readTokenFile(path)
  if (existing !== undefined) {
    if ((await store.findToken(hashToken(existing))) !== undefined) return { token: existing, isKnown: true }
    // A new database accepts the token of the file. A database with an owner may have had this token revoked.
    if (await hasOwner(store)) return { token: existing, isKnown: false }
  }
  const token = existing ?? newToken()
  if (existing === undefined) writePrivateFile(path, `${token}\n`)
  await store.createToken({
    id: randomUUID(),
    tenant_id: MASTER_TENANT,
    member_id: OWNER_MEMBER,
    name: 'admin',
    role: 'owner',
    agent_id: null,
    created_at: clock.now(),
    expires_at: null,
    hash: hashToken(token),
  })
  return { token, isKnown: true }
}

async function hasOwner(store: Store): Promise<boolean> {
  return (await store.listTokens(MASTER_TENANT)).some(({ role }) => role === 'owner')
}

/** Returns the token in the file; an empty file has none. */
function readTokenFile(path: string): string | undefined {
  const token = readPrivateFile(path)?.trim()
  if (token === undefined || token === '') return undefined
  if (!TOKEN_PATTERN.test(token))
    throw serverError('gateway.setting', `${path} does not contain a valid token`, {
      hint: 'A token has at least 32 printable ASCII characters without spaces. Empty the file to create a new one at the next start.',
    })
  return token
}

/** Any text that an HTTP header can carry; generated tokens have 46 characters. */
const TOKEN_PATTERN = /^[\x21-\x7e]{32,}$/

/** A database of the lite edition may hold command hooks; several tenants must not inherit them. */
export async function disableCommands(
  store: Pick<Store, 'disableHandlerTypes'>,
  edition: Edition,
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  if (runsCommands(edition)) return
  const disabled = await store.disableHandlerTypes(['command'], 'edition', clock.now())
  if (disabled > 0) log('hooks.command_hook_auto_disabled', { hooks: disabled })
  log('hooks.command_migration_complete', { hooks: disabled })
}
