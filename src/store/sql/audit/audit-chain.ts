import { createHmac, createSecretKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import { isHookError } from '../../../engine/core/error.ts'
import { serverError } from '../../../engine/core/server-errors.ts'
import { chainKeyPlace } from '../../paths.ts'
import { type Db, isTaken, type Query } from '../sql-database.ts'
import type { Tables } from '../tables.ts'
import type { SealedExecution } from './audit-group.ts'

/** What stands before the first row of a chain. */
export const FIRST_LINK = new Uint8Array(32)

/** Where a chain has got to. */
export interface Links {
  readonly chain: string
  /** The link of a row if it is the next; nothing moves on yet, the row may be there already. */
  next(row: LinkedRow): Link
  /** The row was inserted. */
  advance(link: Link): void
  readonly seq: number
  readonly link: Uint8Array
  /** Vouches for the head, so that rows cannot be cut off at the end. */
  headMac(): Uint8Array
}

interface Link {
  readonly seq: number
  readonly mac: Uint8Array
}

/** Everything of a row but its hook id, which deleting the hook empties, and its error detail, which a new key rewrites. */
type LinkedRow = Omit<SealedExecution, 'hook_id'>

export function newChain(): { readonly chain: string; readonly key: string } {
  return { chain: randomUUID(), key: randomBytes(32).toString('base64') }
}

export function linksOf(chain: string, key: string, from: { seq: number; link: Uint8Array }): Links {
  // Made once: from bytes it would be made anew for each row, at four times the cost.
  const secret = createSecretKey(key, 'base64')
  let { seq, link } = from
  return {
    chain,
    next: (row) => ({ seq: seq + 1, mac: linkMac(secret, link, seq + 1, row) }),
    advance(next) {
      seq = next.seq
      link = next.mac
    },
    get seq() {
      return seq
    },
    get link() {
      return link
    },
    headMac: () => placeMac(key, 'head', [chain, seq], link),
  }
}

function linkMac(secret: KeyObject, before: Uint8Array, seq: number, row: LinkedRow): Uint8Array {
  return createHmac('sha256', secret).update(before).update(canonical(seq, row)).digest()
}

/** An array, so that no two rows can be written alike. */
function canonical(seq: number, row: LinkedRow): string {
  return JSON.stringify([
    seq,
    row.id,
    row.tenant_id,
    row.event_id,
    row.event,
    row.handler_type,
    row.session_id,
    row.agent_id,
    row.input_hash,
    row.decision,
    row.duration_ms,
    row.retry,
    row.dedup_key,
    row.code,
    row.error,
    row.error_detail !== null,
    row.shadow,
    row.metadata,
    row.created_at,
  ])
}

/** Vouches for what a chain says about itself: its base, its head, a gap. */
export function placeMac(
  key: string,
  what: 'base' | 'head' | 'gap',
  parts: readonly (string | number)[],
  link: Uint8Array,
): Uint8Array {
  return createHmac('sha256', Buffer.from(key, 'base64'))
    .update(JSON.stringify([what, ...parts]))
    .update(link)
    .digest()
}

const TRIES = 5

/** Another node may open one at the same moment and take the ordinal. */
export async function openChain(db: Db): Promise<Links> {
  for (let tries = 1; ; tries++) {
    try {
      return await insertChain(db)
    } catch (error) {
      if (!isTaken(error)) throw error
      if (tries === TRIES) throw serverError('store.unavailable', 'no audit chain could be opened')
    }
  }
}

async function insertChain(db: Db): Promise<Links> {
  const { chain, key } = newChain()
  const links = linksOf(chain, key, { seq: 0, link: FIRST_LINK })
  await db.system(async (trx) => {
    const { last } = await trx
      .selectFrom('audit_chains')
      .select((eb) => eb.fn.max('ordinal').as('last'))
      .executeTakeFirstOrThrow()
    const ordinal = (last ?? 0) + 1
    await trx
      .insertInto('audit_chains')
      .values({
        chain,
        ordinal,
        sealed_key: db.secrets.encrypt(key, chainKeyPlace(chain)),
        base_seq: 0,
        base_link: FIRST_LINK,
        base_mac: placeMac(key, 'base', [chain, ordinal, 0], FIRST_LINK),
        head_seq: 0,
        head_link: FIRST_LINK,
        head_mac: links.headMac(),
      })
      .execute()
  })
  return links
}

export type ChainRow = Selectable<Tables['audit_chains']>

export function listChains(trx: Query): Promise<ChainRow[]> {
  return trx.selectFrom('audit_chains').selectAll().orderBy('ordinal').execute()
}

/** The key that links a chain; undefined when no key of ours opens it. */
export function chainKey({ secrets }: Db, row: Pick<ChainRow, 'chain' | 'sealed_key'>): string | undefined {
  try {
    return secrets.decrypt(row.sealed_key, chainKeyPlace(row.chain))
  } catch (error) {
    if (isHookError(error)) return undefined
    throw error
  }
}

export function baseMac(key: string, row: Pick<ChainRow, 'chain' | 'ordinal' | 'base_seq' | 'base_link'>) {
  return placeMac(key, 'base', [row.chain, row.ordinal, row.base_seq], row.base_link)
}

export function headMac(key: string, row: Pick<ChainRow, 'chain' | 'head_seq' | 'head_link'>) {
  return placeMac(key, 'head', [row.chain, row.head_seq], row.head_link)
}

export function gapMac(key: string, row: Omit<Selectable<Tables['audit_gaps']>, 'mac'>) {
  return placeMac(key, 'gap', [row.chain, row.from_seq, row.to_seq], row.link)
}
