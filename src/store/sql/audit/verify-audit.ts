import type { Selectable } from 'kysely'
import { nextTurn } from '../../../engine/core/clock.ts'
import { stableJson } from '../../../engine/core/stable-json.ts'
import type { AuditStore, AuditVerdict } from '../../stores/audit-store.ts'
import type { Db, Query } from '../sql-database.ts'
import type { Tables } from '../tables.ts'
import {
  baseMac,
  type ChainRow,
  chainKey,
  gapMac,
  headMac,
  type Links,
  linksOf,
  listChains,
} from './audit-chain.ts'

const PAGE = 500

type Execution = Selectable<Tables['hook_executions']>
type Broken = { readonly seq: number; readonly why: string }

/** What lies behind a seq, at one moment. */
interface Stretch {
  readonly chain: ChainRow
  readonly rows: ReadonlyMap<number, Execution>
  readonly gaps: ReadonlyMap<number, Selectable<Tables['audit_gaps']>>
  /** A row before the beginning or behind the end. */
  readonly outside: number | undefined
}

/** Reads in pages, each a transaction of its own, so that recording and pruning go on meanwhile. */
export function verifier(db: Db): Pick<AuditStore, 'verifyAudit'> {
  return {
    async verifyAudit(): Promise<AuditVerdict> {
      const chains = await db.system(listChains)
      let checked = 0
      const count = () => {
        checked++
      }
      for (const [index, { chain, ordinal }] of chains.entries()) {
        const broken =
          ordinal === index + 1
            ? await verifyChain(db, chain, count)
            : { seq: 0, why: 'a whole chain before it is gone' }
        if (broken !== undefined) return { checked, broken: { chain, ...broken } }
      }
      const stray = await db.system(findStray)
      return stray === undefined
        ? { checked }
        : { checked, broken: { ...stray, why: 'its chain was never begun' } }
    },
  }
}

async function verifyChain(db: Db, chain: string, count: () => void): Promise<Broken | undefined> {
  let links: Links | undefined
  for (;;) {
    // The embedded store has one thread, and whoever waits for it comes in between two turns.
    await nextTurn()
    const stretch = await db.system((trx) => readStretch(trx, chain, links?.seq))
    if (stretch === undefined) return { seq: links?.seq ?? 0, why: 'its chain is gone' }
    const key = chainKey(db, stretch.chain)
    const bad = key === undefined ? 'the key of its chain cannot be opened' : badEnds(key, stretch.chain)
    if (key === undefined || bad !== undefined)
      return { seq: stretch.chain.base_seq, why: bad ?? 'no key opens it' }
    const { base_seq, base_link, head_seq, head_link } = stretch.chain
    // Pruning may have gone further than we have.
    if (links === undefined || links.seq < base_seq)
      links = linksOf(chain, key, { seq: base_seq, link: base_link })
    if (links.seq === head_seq) {
      if (!same(links.link, head_link)) return { seq: head_seq, why: 'the chain does not end with it' }
      return stretch.outside === undefined
        ? undefined
        : { seq: stretch.outside, why: 'it lies outside of its chain' }
    }
    const broken = follow(db, stretch, { links, key, count })
    if (broken !== undefined && !(await isPruned(db, chain, broken.seq))) return broken
  }
}

function badEnds(key: string, chain: ChainRow): string | undefined {
  if (!same(baseMac(key, chain), chain.base_mac)) return 'the beginning of its chain was changed'
  return same(headMac(key, chain), chain.head_mac) ? undefined : 'the end of its chain was changed'
}

/** At least one step, or what is wrong with the next one. */
function follow(
  db: Db,
  { rows, gaps }: Stretch,
  { links, key, count }: { links: Links; key: string; count: () => void },
): Broken | undefined {
  const start = links.seq
  for (;;) {
    const seq = links.seq + 1
    const row = rows.get(seq)
    const gap = gaps.get(seq)
    if (row !== undefined) {
      const link = links.next(linked(db, row))
      if (!same(link.mac, row.mac)) return { seq, why: 'it is not as it was written' }
      links.advance(link)
      count()
    } else if (gap !== undefined) {
      if (!same(gapMac(key, gap), gap.mac)) return { seq, why: 'nobody vouches for the gap' }
      links.advance({ seq: gap.to_seq, mac: gap.link })
    } else return links.seq > start ? undefined : { seq, why: 'it is missing' }
  }
}

function linked(db: Db, row: Execution) {
  return {
    ...row,
    shadow: Boolean(row.shadow),
    metadata: stableJson(db.codec.readJson(row.metadata)),
  }
}

async function readStretch(
  trx: Query,
  chain: string,
  after: number | undefined,
): Promise<Stretch | undefined> {
  const found = await trx.selectFrom('audit_chains').selectAll().where('chain', '=', chain).executeTakeFirst()
  if (found === undefined) return undefined
  const from = Math.max(after ?? 0, found.base_seq)
  const rows = await trx
    .selectFrom('hook_executions')
    .selectAll()
    .where('chain', '=', chain)
    .where('seq', '>', from)
    .where('seq', '<=', found.head_seq)
    .orderBy('seq')
    .limit(PAGE)
    .execute()
  const gaps = await trx
    .selectFrom('audit_gaps')
    .selectAll()
    .where('chain', '=', chain)
    .where('from_seq', '>', from)
    .orderBy('from_seq')
    .limit(PAGE)
    .execute()
  // Asked apart, since together they would be looked for among all rows of the chain.
  const inChain = trx.selectFrom('hook_executions').select('seq').where('chain', '=', chain).limit(1)
  const before = await inChain.where('seq', '<=', found.base_seq).executeTakeFirst()
  const behind = await inChain.where('seq', '>', found.head_seq).executeTakeFirst()
  return {
    chain: found,
    rows: new Map(rows.map((row) => [row.seq, row])),
    gaps: new Map(gaps.map((gap) => [gap.from_seq, gap])),
    outside: (before ?? behind)?.seq,
  }
}

/** A statement may see what another one before it in the same transaction did not, and pruning is no breakage. */
async function isPruned(db: Db, chain: string, seq: number): Promise<boolean> {
  const row = await db.system((trx) =>
    trx.selectFrom('audit_chains').select('base_seq').where('chain', '=', chain).executeTakeFirst(),
  )
  return row !== undefined && row.base_seq >= seq
}

function findStray(trx: Query): Promise<{ chain: string; seq: number } | undefined> {
  return trx
    .selectFrom('hook_executions')
    .select(['chain', 'seq'])
    .where('chain', 'not in', (eb) => eb.selectFrom('audit_chains').select('chain'))
    .limit(1)
    .executeTakeFirst()
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
