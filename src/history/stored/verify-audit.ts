import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { QueryBuilder, SqlDatabase } from '../../database/sql-database.ts'
import { nextTurn } from '../../engine/core/time/clock.ts'
import { stableJson } from '../../engine/core/values/stable-json.ts'
import type { Tables } from '../../store/kysely-tables.ts'
import type { AuditVerdict } from '../audit-tables.ts'
import {
  type AuditChain,
  type AuditChainRow,
  baseMac,
  chainKey,
  continueChain,
  findChain,
  gapMac,
  headMac,
  listChains,
} from './audit-chain.ts'

const PAGE = 500

type ExecutionTableRow = Selectable<Tables['hook_executions']>
type Broken = { readonly seq: number; readonly why: string }

/** The rows and gaps after a seq, read in one transaction. */
interface ChainPage {
  readonly chain: AuditChainRow
  readonly rows: ReadonlyMap<number, ExecutionTableRow>
  readonly gaps: ReadonlyMap<number, Selectable<Tables['audit_gaps']>>
  /** A row before the start or after the end of the chain. */
  readonly outside: number | undefined
}

/** Verifies every chain. Reads pages in separate transactions, so that recording and pruning continue meanwhile. */
export async function verifyChains(db: SqlDatabase): Promise<AuditVerdict> {
  const chains = await db.system(listChains)
  let checked = 0
  const count = () => {
    checked++
  }
  for (const [index, { chain, ordinal }] of chains.entries()) {
    const broken =
      ordinal === index + 1
        ? await verifyChain(db, chain, count)
        : { seq: 0, why: 'the chain before it is missing' }
    if (broken !== undefined) return { checked, broken: { chain, ...broken } }
  }
  const stray = await db.system(findStray)
  return stray === undefined
    ? { checked }
    : { checked, broken: { ...stray, why: 'its chain does not exist' } }
}

async function verifyChain(db: SqlDatabase, id: string, count: () => void): Promise<Broken | undefined> {
  let chain: AuditChain | undefined
  for (;;) {
    // The SQLite store has one thread; other calls run between two turns.
    await nextTurn()
    const page = await db.system((trx) => readPage(trx, id, chain?.seq))
    if (page === undefined) return { seq: chain?.seq ?? 0, why: 'its chain is missing' }
    const { base_seq, base_link, head_seq, head_link } = page.chain
    const key = chainKey(db, page.chain)
    if (key === undefined) return { seq: base_seq, why: 'the key of its chain cannot be opened' }
    const changed = changedBoundary(key, page.chain)
    if (changed !== undefined) return { seq: base_seq, why: changed }
    // Pruning may have passed the row that we verified last.
    if (chain === undefined || chain.seq < base_seq)
      chain = continueChain(id, key, { seq: base_seq, link: base_link })
    if (chain.seq === head_seq) {
      if (!isEqual(chain.link, head_link))
        return { seq: head_seq, why: 'it is not the last row of its chain' }
      return page.outside === undefined ? undefined : { seq: page.outside, why: 'it is outside of its chain' }
    }
    const broken = verifyPage(db, page, { chain, key, count })
    if (broken !== undefined && !(await isPruned(db, id, broken.seq))) return broken
  }
}

function changedBoundary(key: string, chain: AuditChainRow): string | undefined {
  if (!isEqual(baseMac(key, chain), chain.base_mac)) return 'the start of its chain was changed'
  return isEqual(headMac(key, chain), chain.head_mac) ? undefined : 'the end of its chain was changed'
}

/** Advances the chain by at least one row or gap, or returns what is wrong with the next one. */
function verifyPage(
  db: SqlDatabase,
  { rows, gaps }: ChainPage,
  { chain, key, count }: { chain: AuditChain; key: string; count: () => void },
): Broken | undefined {
  const start = chain.seq
  for (;;) {
    const seq = chain.seq + 1
    const row = rows.get(seq)
    const gap = gaps.get(seq)
    if (row !== undefined) {
      const link = chain.next(linkedRow(db, row))
      if (!isEqual(link.mac, row.mac)) return { seq, why: 'it was changed' }
      chain.advance(link)
      count()
    } else if (gap !== undefined) {
      if (!isEqual(gapMac(key, gap), gap.mac)) return { seq, why: 'the gap is not authentic' }
      chain.advance({ seq: gap.to_seq, mac: gap.link })
    } else return chain.seq > start ? undefined : { seq, why: 'it is missing' }
  }
}

function linkedRow(db: SqlDatabase, row: ExecutionTableRow) {
  return { ...row, shadow: Boolean(row.shadow), metadata: stableJson(db.codec.readJson(row.metadata)) }
}

async function readPage(
  trx: QueryBuilder,
  chain: string,
  after: number | undefined,
): Promise<ChainPage | undefined> {
  const found = await findChain(trx, chain)
  if (found === undefined) return undefined
  const { base_seq, head_seq } = found
  const from = Math.max(after ?? 0, base_seq)
  const { rows } = await sql<ExecutionTableRow>`select * from hook_executions
    where chain = ${chain} and seq > ${from} and seq <= ${head_seq} order by seq limit ${PAGE}`.execute(trx)
  const { rows: gaps } = await sql<Selectable<Tables['audit_gaps']>>`select * from audit_gaps
    where chain = ${chain} and from_seq > ${from} order by from_seq limit ${PAGE}`.execute(trx)
  // Two queries, because one with `or` would scan all rows of the chain.
  const oneWhere = async (isOutside: RawBuilder<unknown>) =>
    (
      await sql<{
        seq: number
      }>`select seq from hook_executions where chain = ${chain} and ${isOutside} limit 1`.execute(trx)
    ).rows[0]
  const outside = (await oneWhere(sql`seq <= ${base_seq}`)) ?? (await oneWhere(sql`seq > ${head_seq}`))
  return {
    chain: found,
    rows: new Map(rows.map((row) => [row.seq, row])),
    gaps: new Map(gaps.map((gap) => [gap.from_seq, gap])),
    outside: outside?.seq,
  }
}

/** Statements of one transaction may see different states, and a row that was pruned meanwhile is not broken. */
async function isPruned(db: SqlDatabase, chain: string, seq: number): Promise<boolean> {
  const row = await db.system((trx) => findChain(trx, chain))
  return row !== undefined && row.base_seq >= seq
}

async function findStray(trx: QueryBuilder): Promise<{ chain: string; seq: number } | undefined> {
  const { rows } = await sql<{ chain: string; seq: number }>`select chain, seq from hook_executions
    where chain not in (select chain from audit_chains) limit 1`.execute(trx)
  return rows[0]
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
