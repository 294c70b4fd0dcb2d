import { createHmac, createSecretKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto'
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
