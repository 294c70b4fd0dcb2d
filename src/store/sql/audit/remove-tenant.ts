import { nextTurn } from '../../../engine/core/clock.ts'
import type { Db, Query } from '../database.ts'
import { chainKey, gapMac } from './chain-rows.ts'

const STEP = 1_000

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
