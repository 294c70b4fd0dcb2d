import { randomUUID } from 'node:crypto'
import type { ConnectionPool } from '../database/postgres/connection-pool.ts'
import { columnArrays, nowOr } from '../database/postgres/postgres-dialect.ts'
import { deliveryPayloadPath } from '../database/sealed-paths.ts'
import type { DialectStatements } from '../database/sql-database.ts'
import { isHookError } from '../engine/core/errors/error.ts'
import type { Secrets } from '../safe/secrets/secret.ts'
import type { ClaimedDelivery, ClaimRequest, DeliveryEnd } from './delivery-table.ts'

/**
 * One subquery per kind, because only then the index returns the oldest first. Skips rows that another worker is claiming;
 * the lock makes PostgreSQL re-read a row that changed since the statement began.
 */
const CLAIM = `with due as (
    select d.id, d.due_at from unnest($1::text[]) as wanted (kind), lateral (
      select id, due_at from deliveries
      where kind = wanted.kind and state in ('waiting', 'leased') and due_at <= ${nowOr('$2')}
      order by due_at, id limit $3 for update skip locked) d
    order by d.due_at, d.id limit $3),
  claimed as (
    update deliveries d set state = 'leased', attempts = d.attempts + 1, due_at = ${nowOr('$2')} + $4::int8,
      lease = $5, updated_at = ${nowOr('$2')}
    from due where d.id = due.id
    returning d.id, d.tenant_id as tenant, d.kind, d.dedup_key, d.payload, d.attempts as attempt, d.lease, d.created_at,
      due.due_at as was_due)
  select * from claimed order by was_due, id`

/** Locks in the order of ids, so that two workers cannot deadlock. */
const END = `with given as (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::int8[], $5::text[]) as e (id, lease, state, retry_ms, error)),
  held as (
    select d.id from deliveries d join given using (id)
    where d.lease = given.lease and d.state = 'leased' order by d.id for update of d)
  update deliveries d set state = given.state, payload = case given.state when 'done' then '' else d.payload end,
    due_at = coalesce(${nowOr('$6')} + given.retry_ms, d.due_at), lease = null, last_error = given.error,
    updated_at = ${nowOr('$6')}
  from given join held using (id) where d.id = given.id returning d.id`

const MARK_DEAD = `update deliveries set state = 'dead', attempts = attempts - 1, lease = null,
    last_error = 'secret.unreadable', updated_at = ${nowOr('$3')}
  where id = any($1::uuid[]) and lease = $2`

export function deliveryClaims(
  pool: ConnectionPool,
  secrets: Secrets,
): Pick<DialectStatements, 'claimDeliveries' | 'endDeliveries'> {
  return {
    async claimDeliveries(claim) {
      const claimed: ClaimedDelivery[] = []
      for (;;) {
        const rows = await claimRows(pool, { ...claim, limit: claim.limit - claimed.length })
        const opened = rows.flatMap((row) => openRow(secrets, row) ?? [])
        claimed.push(...opened)
        if (opened.length === rows.length) return claimed
        await markDead(pool, rows, { opened, now: claim.now })
      }
    },
    async endDeliveries(ends, now) {
      if (ends.length === 0) return []
      const values = [...columnArrays(ends.map(endedRow), ['id', 'lease', 'state', 'retry_ms', 'error']), now]
      const { rows } = await pool.query({ text: END, values })
      return rows.map((row) => row.id)
    },
  }
}

async function claimRows(pool: ConnectionPool, claim: ClaimRequest): Promise<readonly ClaimedDelivery[]> {
  const { kinds, limit, now, lease_ms, worker } = claim
  const values = [kinds, now, limit, lease_ms, `${worker}/${randomUUID()}`]
  const { rows } = await pool.query({ text: CLAIM, values })
  return rows.map(({ was_due: _, ...row }) => row)
}

function openRow(secrets: Secrets, row: ClaimedDelivery): ClaimedDelivery | undefined {
  try {
    return { ...row, payload: secrets.decrypt(row.payload, deliveryPayloadPath(row.id)) }
  } catch (error) {
    if (isHookError(error)) return undefined
    throw error
  }
}

/** Deliveries that cannot be decrypted become dead, and the others continue. */
async function markDead(
  pool: ConnectionPool,
  rows: readonly ClaimedDelivery[],
  { opened, now }: { opened: readonly ClaimedDelivery[]; now: number | undefined },
): Promise<void> {
  const good = new Set(opened.map((row) => row.id))
  const bad = rows.filter((row) => !good.has(row.id))
  await pool.query({ text: MARK_DEAD, values: [bad.map((row) => row.id), rows[0]?.lease, now] })
}

function endedRow(end: DeliveryEnd) {
  const { id, lease } = end
  if (end.end === 'done') return { id, lease, state: 'done', retry_ms: null, error: null }
  const retry_ms = end.end === 'retry' ? end.retry_ms : null
  return { id, lease, state: end.end === 'retry' ? 'waiting' : 'dead', retry_ms, error: end.error }
}
