import { sql } from 'kysely'
import { nextTurn } from '../../../engine/core/clock.ts'
import type { AuditStore } from '../../stores/audit-store.ts'
import type { Db, Query } from '../database.ts'
import { baseMac, type ChainRow, chainKey, listChains } from './chain-rows.ts'

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
