import { sql } from 'kysely'
import { nextTurn } from '../../../engine/core/clock.ts'
import type { AuditStore } from '../../stores/audit-store.ts'
import type { Db, Query } from '../sql-database.ts'
import { baseMac, type ChainRow, chainKey, gapMac, listChains } from './audit-chain.ts'

const STEP = 1_000

type Limits = Parameters<AuditStore['prune']>[0]

/** Each step is a transaction of its own, so that nobody waits long for it. */
export function pruner(db: Db): Pick<AuditStore, 'prune'> {
  return {
    async prune(limits) {
      let count = 0
      for (const { chain } of await db.system(listChains))
        count += await repeat(() => db.system((trx) => pruneChain(db, trx, chain, limits.executions_before)))
      for (const step of steps) count += await repeat(() => db.system((trx) => step(trx, limits)))
      return count
    },
  }
}

async function repeat(step: () => Promise<number>): Promise<number> {
  for (let count = 0; ; ) {
    const removed = await step()
    if (removed === 0) return count
    // The embedded store has one thread, and whoever waits for it comes in between two turns.
    await nextTurn()
    count += removed
  }
}

/** Only the beginning of a chain is removed, so that what is left can still be checked. */
async function pruneChain(db: Db, trx: Query, chain: string, before: number): Promise<number> {
  const row = await trx.selectFrom('audit_chains').selectAll().where('chain', '=', chain).executeTakeFirst()
  if (row === undefined) return 0
  const first = await trx
    .selectFrom('hook_executions')
    .select(['seq', 'mac', 'created_at'])
    .where('chain', '=', chain)
    .orderBy('seq')
    .limit(STEP)
    .execute()
  const young = first.findIndex((execution) => execution.created_at >= before)
  const old = young < 0 ? first : first.slice(0, young)
  const last = old.at(-1)
  if (last === undefined) return 0
  await trx.deleteFrom('hook_executions').where('chain', '=', chain).where('seq', '<=', last.seq).execute()
  await trx.deleteFrom('audit_gaps').where('chain', '=', chain).where('to_seq', '<=', last.seq).execute()
  await moveBase(db, trx, { ...row, base_seq: last.seq, base_link: last.mac })
  return old.length
}

async function moveBase(db: Db, trx: Query, row: ChainRow): Promise<void> {
  const key = chainKey(db, row)
  await trx
    .updateTable('audit_chains')
    .set({
      base_seq: row.base_seq,
      base_link: row.base_link,
      // Without its key nobody can check the chain any more.
      base_mac: key === undefined ? new Uint8Array() : baseMac(key, row),
    })
    .where('chain', '=', row.chain)
    .execute()
}

/** Dead letters stay as long as the history of what caused them; done ones only for their dedup key. */
const steps: readonly ((trx: Query, limits: Limits) => Promise<number>)[] = [
  async (trx, { executions_before: before }) => {
    const old = trx
      .selectFrom('events')
      .select(['tenant_id', 'event_id'])
      .where('created_at', '<', before)
      .orderBy('created_at')
      .limit(STEP)
    return deleted(
      trx
        .deleteFrom('events')
        .where((eb) => eb(eb.refTuple('tenant_id', 'event_id'), 'in', old.$asTuple('tenant_id', 'event_id'))),
    )
  },
  async (trx, { executions_before: before }) => {
    const old = trx
      .selectFrom('sessions')
      .select(['tenant_id', 'session_id'])
      .where('last_at', '<', before)
      .limit(STEP)
    return deleted(
      trx
        .deleteFrom('sessions')
        .where((eb) =>
          eb(eb.refTuple('tenant_id', 'session_id'), 'in', old.$asTuple('tenant_id', 'session_id')),
        ),
    )
  },
  async (trx, { answers_before: before }) => {
    const old = trx
      .selectFrom('idempotency')
      .select(['tenant_id', 'key'])
      .where('expires_at', '<', before)
      .limit(STEP)
    return deleted(
      trx
        .deleteFrom('idempotency')
        .where((eb) => eb(eb.refTuple('tenant_id', 'key'), 'in', old.$asTuple('tenant_id', 'key'))),
    )
  },
  async (trx, { guards_before: before }) => {
    const old = trx
      .selectFrom('guard_state')
      .select(['tenant_id', 'key'])
      .where('until', '<', before)
      .limit(STEP)
    return deleted(
      trx
        .deleteFrom('guard_state')
        .where((eb) => eb(eb.refTuple('tenant_id', 'key'), 'in', old.$asTuple('tenant_id', 'key'))),
    )
  },
  (trx, limits) => pruneDeliveries(trx, 'done', limits.deliveries_before),
  (trx, limits) => pruneDeliveries(trx, 'dead', limits.executions_before),
]

function pruneDeliveries(trx: Query, state: 'done' | 'dead', before: number): Promise<number> {
  const old = trx
    .selectFrom('deliveries')
    .select('id')
    .where(sql<boolean>`state = ${sql.lit(state)}`)
    .where('updated_at', '<', before)
    .orderBy('updated_at')
    .limit(STEP)
  return deleted(trx.deleteFrom('deliveries').where('id', 'in', old))
}

async function deleted(query: {
  executeTakeFirst(): Promise<{ numDeletedRows: bigint } | undefined>
}): Promise<number> {
  return Number((await query.executeTakeFirst())?.numDeletedRows ?? 0)
}

interface Removed {
  readonly chain: string
  readonly seq: number
  readonly mac: Uint8Array
}

/** Removes the executions of a tenant in small steps and vouches for each gap, so that the chains still hold. */
export async function removeTenantAudit(db: Db, tenant: string): Promise<void> {
  for (;;) {
    const removed = await db.system((trx) => removeStep(db, trx, tenant))
    if (removed === 0) return
    await nextTurn()
  }
}

async function removeStep(db: Db, trx: Query, tenant: string): Promise<number> {
  const rows = await trx
    .selectFrom('hook_executions')
    .select(['position', 'chain', 'seq', 'mac'])
    .where('tenant_id', '=', tenant)
    .orderBy('created_at')
    .orderBy('position')
    .limit(STEP)
    .execute()
  if (rows.length === 0) return 0
  await trx
    .deleteFrom('hook_executions')
    .where(
      'position',
      'in',
      rows.map((row) => row.position),
    )
    .execute()
  const byChain = Map.groupBy(rows, (row) => row.chain)
  for (const [chain, removed] of byChain) await insertGaps(db, trx, chain, removed)
  return rows.length
}

async function insertGaps(db: Db, trx: Query, chain: string, removed: readonly Removed[]): Promise<void> {
  const row = await trx
    .selectFrom('audit_chains')
    .select(['chain', 'sealed_key'])
    .where('chain', '=', chain)
    .executeTakeFirst()
  const key = row && chainKey(db, row)
  // Without its key nobody can check the chain any more, so nobody needs to vouch for it.
  if (key === undefined) return
  for (const run of runsOf(removed)) {
    const gap = { chain, from_seq: run.from, to_seq: run.last.seq, link: run.last.mac }
    await trx
      .insertInto('audit_gaps')
      .values({ ...gap, mac: gapMac(key, gap) })
      .execute()
  }
}

/** Rows that follow one another make one gap. */
function runsOf(removed: readonly Removed[]): readonly { from: number; last: Removed }[] {
  const runs: { from: number; last: Removed }[] = []
  for (const row of removed.toSorted((a, b) => a.seq - b.seq)) {
    const run = runs.at(-1)
    if (run !== undefined && run.last.seq + 1 === row.seq) run.last = row
    else runs.push({ from: row.seq, last: row })
  }
  return runs
}
