import { sql } from 'kysely'
import { afterWholeJournal, callAt, inSystemOf, operation, timed } from '../database/operation.ts'
import type { QueryBuilder, SqlDatabase } from '../database/sql-database.ts'
import { type Expiry, keyOf, type Table } from '../database/table.ts'
import { nextTurn } from '../engine/core/time/clock.ts'
import {
  type AuditChainRow,
  baseMac,
  chainKey,
  findChain,
  gapMac,
  listChains,
} from '../history/stored/audit-chain.ts'
import { tables } from './tables.ts'

const STEP = 1_000

export const retentionOperations = {
  /** Deletes executions and done deliveries that are older, and everything that has expired, in small steps. Returns how many. */
  prune: operation(
    { ...timed, ...afterWholeJournal },
    async (
      call,
      limits: { readonly keep_executions_ms: number; readonly keep_deliveries_ms: number },
      given?: number,
    ) => {
      const { db } = call
      const now = await inSystemOf(callAt(call, given), (tx) => tx.time())
      const before = {
        history: now - limits.keep_executions_ms,
        'done deliveries': now - limits.keep_deliveries_ms,
        none: now,
      }
      let count = 0
      for (const { chain } of await db.system(listChains))
        count += await repeat(() => db.system((trx) => pruneChain(db, trx, chain, before.history)))
      for (const prune of [pruneEvents, pruneRunEvents])
        count += await repeat(() => db.system((trx) => prune(trx, before.history)))
      for (const { table, expiry } of expiring) {
        const oldest = before[expiry.keep] - (expiry.span ?? 0)
        count += await repeat(() => db.system((trx) => pruneRows(trx, table, expiry, oldest)))
      }
      return count
    },
  ),
}

/** Repeats a step until it deletes nothing. */
async function repeat(step: () => Promise<number>): Promise<number> {
  for (let count = 0; ; ) {
    const removed = await step()
    if (removed === 0) return count
    // The SQLite store has one thread; other calls run between two turns.
    await nextTurn()
    count += removed
  }
}

/** Deletes only the start of a chain, so that the rest can still be verified. */
async function pruneChain(
  db: SqlDatabase,
  trx: QueryBuilder,
  chain: string,
  before: number,
): Promise<number> {
  const row = await findChain(trx, chain)
  if (row === undefined) return 0
  const { rows: first } = await sql<{ seq: number; mac: Uint8Array; created_at: number }>`
    select seq, mac, created_at from hook_executions where chain = ${chain} order by seq limit ${STEP}`.execute(
    trx,
  )
  const young = first.findIndex((execution) => execution.created_at >= before)
  const old = young < 0 ? first : first.slice(0, young)
  const last = old.at(-1)
  if (last === undefined) return 0
  await sql`delete from hook_executions where chain = ${chain} and seq <= ${last.seq}`.execute(trx)
  await sql`delete from audit_gaps where chain = ${chain} and to_seq <= ${last.seq}`.execute(trx)
  await moveBase(db, trx, { ...row, base_seq: last.seq, base_link: last.mac })
  return old.length
}

async function moveBase(db: SqlDatabase, trx: QueryBuilder, row: AuditChainRow): Promise<void> {
  const key = chainKey(db, row)
  // A chain without its key cannot be verified.
  const base_mac = key === undefined ? new Uint8Array() : baseMac(key, row)
  await sql`update audit_chains set base_seq = ${row.base_seq}, base_link = ${row.base_link}, base_mac = ${base_mac}
    where chain = ${row.chain}`.execute(trx)
}

/** Rows go before those that they refer to. */
const expiring = tables
  .toReversed()
  .flatMap((table: Table) => (table.expiry ?? []).map((expiry) => ({ table, expiry })))

async function pruneRows(
  trx: QueryBuilder,
  table: Table,
  { where, order }: Expiry,
  before: number,
): Promise<number> {
  const [from, key] = [sql.table(table.name), sql.join(keyOf(table).map((name) => sql.ref(name)))]
  const condition = sql.raw(where.replaceAll(':before', String(before)))
  const { numAffectedRows } = await sql`
    delete from ${from} where (${key}) in (
      select ${key} from ${from} where ${condition}
      ${order === undefined ? sql`` : sql`order by ${sql.ref(order)}`} limit ${STEP})`.execute(trx)
  return Number(numAffectedRows ?? 0)
}

/** Deletes the oldest events with their summaries, which share the time of their event. */
async function pruneEvents(trx: QueryBuilder, before: number): Promise<number> {
  // Ordered by the key too, so that both statements select the same events.
  const oldest = sql`select tenant_id, event_id, created_at from events where created_at < ${before}
    order by created_at, tenant_id, event_id limit ${STEP}`
  await sql`
    delete from event_summaries where position in (
      select s.position from (${oldest}) e join event_summaries s
        on s.tenant_id = e.tenant_id and s.created_at = e.created_at and s.event_id = e.event_id)`.execute(
    trx,
  )
  const { numAffectedRows } = await sql`
    delete from events where (tenant_id, event_id) in (select tenant_id, event_id from (${oldest}) e)`.execute(
    trx,
  )
  return Number(numAffectedRows ?? 0)
}

/** Before their runs, which may have many events. Events of sessions without runs go with their session. */
async function pruneRunEvents(trx: QueryBuilder, before: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from run_events where (tenant_id, position) in (
      select e.tenant_id, e.position from runs r
        join run_events e on e.tenant_id = r.tenant_id and e.run_id = r.run_id
      where r.completed_at < ${before} and not r.finish_pending limit ${STEP})`.execute(trx)
  return Number(numAffectedRows ?? 0)
}

interface RemovedRow {
  readonly chain: string
  readonly seq: number
  readonly mac: Uint8Array
}

/** Deletes the executions of a tenant in small steps and records each gap, so that the chains still verify. */
export async function removeTenantAudit(db: SqlDatabase, tenant: string): Promise<void> {
  await repeat(() => db.system((trx) => removeTenantStep(db, trx, tenant)))
}

async function removeTenantStep(db: SqlDatabase, trx: QueryBuilder, tenant: string): Promise<number> {
  const { rows } = await sql<RemovedRow & { position: number }>`
    select position, chain, seq, mac from hook_executions where tenant_id = ${tenant}
    order by created_at, position limit ${STEP}`.execute(trx)
  if (rows.length === 0) return 0
  const positions = sql.join(rows.map((row) => row.position))
  await sql`delete from hook_executions where position in (${positions})`.execute(trx)
  const byChain = Map.groupBy(rows, (row) => row.chain)
  for (const [chain, removed] of byChain) await insertGaps(db, trx, chain, removed)
  return rows.length
}

async function insertGaps(
  db: SqlDatabase,
  trx: QueryBuilder,
  chain: string,
  removed: readonly RemovedRow[],
): Promise<void> {
  const row = await findChain(trx, chain)
  const key = row && chainKey(db, row)
  // A chain without its key cannot be verified, so it needs no gap.
  if (key === undefined) return
  for (const run of runsOf(removed)) {
    const gap = { chain, from_seq: run.from, to_seq: run.last.seq, link: run.last.mac }
    await sql`insert into audit_gaps (chain, from_seq, to_seq, link, mac)
      values (${chain}, ${gap.from_seq}, ${gap.to_seq}, ${gap.link}, ${gapMac(key, gap)})`.execute(trx)
  }
}

/** Consecutive rows form one gap. */
function runsOf(removed: readonly RemovedRow[]): readonly { from: number; last: RemovedRow }[] {
  const runs: { from: number; last: RemovedRow }[] = []
  for (const row of removed.toSorted((a, b) => a.seq - b.seq)) {
    const run = runs.at(-1)
    if (run !== undefined && run.last.seq + 1 === row.seq) run.last = row
    else runs.push({ from: row.seq, last: row })
  }
  return runs
}
