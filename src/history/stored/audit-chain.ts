/** The chain of MACs over recorded executions, which makes the audit log tamper-evident. */
import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import { chainKeyPath } from '../../database/sealed-paths.ts'
import { isUniqueViolation, type QueryBuilder, type SqlDatabase } from '../../database/sql-database.ts'
import { isHookError } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Tables } from '../../store/kysely-tables.ts'
import type { SealedExecution } from './audit-group.ts'

export type AuditChainRow = Selectable<Tables['audit_chains']>

/** The link before the first row of a chain. */
const FIRST_LINK = new Uint8Array(32)
const MAX_TRIES = 5

/** A chain and its current head. */
export interface AuditChain {
  readonly id: string
  readonly seq: number
  readonly link: Uint8Array
  /** The link that a row would get next. The head moves only with `advance`, since the row may already exist. */
  next(row: LinkedRow): ChainLink
  /** Moves the head after the row was inserted. */
  advance(link: ChainLink): void
  /** Authenticates the head, so that deleting the last rows is noticed. */
  headMac(): Uint8Array
}

interface ChainLink {
  readonly seq: number
  readonly mac: Uint8Array
}

/** Without the hook id, which deleting the hook clears. `error_detail` counts only by presence, as re-keying rewrites it. */
type LinkedRow = Omit<SealedExecution, 'hook_id' | 'tally'>

/** Starts a new chain. Retries when another node takes the same ordinal. */
export async function openChain(db: SqlDatabase): Promise<AuditChain> {
  for (let tries = 1; ; tries++) {
    try {
      return await insertChain(db)
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      if (tries === MAX_TRIES) throw serverError('store.unavailable', 'no audit chain could be opened')
    }
  }
}

async function insertChain(db: SqlDatabase): Promise<AuditChain> {
  const id = randomUUID()
  const key = randomBytes(32).toString('base64')
  const chain = continueChain(id, key, { seq: 0, link: FIRST_LINK })
  await db.system(async (trx) => {
    const { rows } = await sql<{ next: number }>`
      select coalesce(max(ordinal), 0) + 1 as next from audit_chains`.execute(trx)
    const base = { chain: id, ordinal: Number(rows[0]?.next), base_seq: 0, base_link: FIRST_LINK }
    const sealed = db.secrets.encrypt(key, chainKeyPath(id))
    await sql`insert into audit_chains
      (chain, ordinal, sealed_key, base_seq, base_link, base_mac, head_seq, head_link, head_mac) values (
        ${id}, ${base.ordinal}, ${sealed}, 0, ${FIRST_LINK}, ${baseMac(key, base)}, 0, ${FIRST_LINK}, ${chain.headMac()}
      )`.execute(trx)
  })
  return chain
}

export function continueChain(id: string, key: string, from: { seq: number; link: Uint8Array }): AuditChain {
  // Created once: creating it from bytes for each row would cost four times as much.
  const secret = createSecretKey(key, 'base64')
  let { seq, link } = from
  return {
    id,
    get seq() {
      return seq
    },
    get link() {
      return link
    },
    next: (row) => ({
      seq: seq + 1,
      mac: createHmac('sha256', secret)
        .update(link)
        .update(canonicalRow(seq + 1, row))
        .digest(),
    }),
    advance(next) {
      seq = next.seq
      link = next.mac
    },
    headMac: () => headMac(key, { chain: id, head_seq: seq, head_link: link }),
  }
}

/** An array, so that no two rows have the same text. */
function canonicalRow(seq: number, row: LinkedRow): string {
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

export async function listChains(trx: QueryBuilder): Promise<readonly AuditChainRow[]> {
  return (await sql<AuditChainRow>`select * from audit_chains order by ordinal`.execute(trx)).rows
}

export async function findChain(trx: QueryBuilder, chain: string): Promise<AuditChainRow | undefined> {
  return (await sql<AuditChainRow>`select * from audit_chains where chain = ${chain}`.execute(trx)).rows[0]
}

/** The key of a chain; undefined if no key in the keyring opens it. */
export function chainKey(
  { secrets }: SqlDatabase,
  row: Pick<AuditChainRow, 'chain' | 'sealed_key'>,
): string | undefined {
  try {
    return secrets.decrypt(row.sealed_key, chainKeyPath(row.chain))
  } catch (error) {
    if (isHookError(error)) return undefined
    throw error
  }
}

export function baseMac(
  key: string,
  row: Pick<AuditChainRow, 'chain' | 'ordinal' | 'base_seq' | 'base_link'>,
): Uint8Array {
  return boundaryMac(key, ['base', row.chain, row.ordinal, row.base_seq], row.base_link)
}

export function headMac(
  key: string,
  row: Pick<AuditChainRow, 'chain' | 'head_seq' | 'head_link'>,
): Uint8Array {
  return boundaryMac(key, ['head', row.chain, row.head_seq], row.head_link)
}

export function gapMac(key: string, row: Omit<Selectable<Tables['audit_gaps']>, 'mac'>): Uint8Array {
  return boundaryMac(key, ['gap', row.chain, row.from_seq, row.to_seq], row.link)
}

/** Authenticates a boundary of a chain: its base, its head, or a gap. */
function boundaryMac(key: string, parts: readonly (string | number)[], link: Uint8Array): Uint8Array {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(JSON.stringify(parts)).update(link).digest()
}
