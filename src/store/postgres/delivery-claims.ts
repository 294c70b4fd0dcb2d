import { randomUUID } from 'node:crypto'
import { isHookError } from '../../engine/core/error.ts'
import type { Secrets } from '../../safe/secret.ts'
import { payloadPlace } from '../paths.ts'
import type { ClaimedDelivery, DeliveryEnd, DeliveryStore } from '../stores/delivery-store.ts'
import type { Pool } from './connection-pool.ts'
import { batch } from './postgres-dialect.ts'

/**
 * Kind by kind, because only then the index gives the oldest first. Rows that another worker is just claiming are passed
 * over; the lock makes PostgreSQL look again at a row that changed since the statement began.
 */
const CLAIM = `with due as (
    select d.id, d.due_at from unnest($1::text[]) as wanted (kind), lateral (
      select id, due_at from deliveries
      where kind = wanted.kind and state in ('waiting', 'leased') and due_at <= $2
      order by due_at, id limit $3 for update skip locked) d
    order by d.due_at, d.id limit $3),
  claimed as (
    update deliveries d set state = 'leased', attempts = d.attempts + 1, due_at = $4, lease = $5, updated_at = $2
    from due where d.id = due.id
    returning d.id, d.tenant_id as tenant, d.kind, d.dedup_key, d.payload, d.attempts as attempt, d.lease, d.created_at,
      due.due_at as was_due)
  select * from claimed order by was_due, id`

/** Locked in one order: two workers with the same ends wait for each other, and never in a circle. */
const END = `with given as (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::int8[], $5::text[]) as e (id, lease, state, due_at, error)),
  held as (
    select d.id from deliveries d join given using (id)
    where d.lease = given.lease and d.state = 'leased' order by d.id for update of d)
  update deliveries d set state = given.state, payload = case given.state when 'done' then '' else d.payload end, due_at = coalesce(given.due_at, d.due_at), lease = null,
    last_error = given.error, updated_at = $6
  from given join held using (id) where d.id = given.id returning d.id`

const BURY = `update deliveries set state = 'dead', attempts = attempts - 1, lease = null,
    last_error = 'secret.unreadable', updated_at = $3
  where id = any($1::uuid[]) and lease = $2`

type Claim = Parameters<DeliveryStore['claimDeliveries']>[0]

export function deliveries(
  pool: Pool,
  secrets: Secrets,
): Pick<DeliveryStore, 'claimDeliveries' | 'endDeliveries'> {
  return {
    async claimDeliveries(claim) {
      const claimed: ClaimedDelivery[] = []
      for (;;) {
        const rows = await claimRows(pool, { ...claim, limit: claim.limit - claimed.length })
        const opened = rows.flatMap((row) => openRow(secrets, row) ?? [])
        claimed.push(...opened)
        if (opened.length === rows.length) return claimed
        await bury(pool, rows, { opened, now: claim.now })
      }
    },
    async endDeliveries(ends, now) {
      if (ends.length === 0) return []
      const values = [...batch(ends.map(asRow), ['id', 'lease', 'state', 'due_at', 'error']), now]
      const { rows } = await pool.query({ text: END, values })
      return rows.map((row) => row.id)
    },
  }
}

async function claimRows(pool: Pool, claim: Claim): Promise<readonly ClaimedDelivery[]> {
  const { kinds, limit, now, lease_until, worker } = claim
  const values = [kinds, now, limit, lease_until, `${worker}/${randomUUID()}`]
  const { rows } = await pool.query({ text: CLAIM, values })
  return rows.map(({ was_due: _, ...row }) => row)
}

function openRow(secrets: Secrets, row: ClaimedDelivery): ClaimedDelivery | undefined {
  try {
    return { ...row, payload: secrets.decrypt(row.payload, payloadPlace(row.id)) }
  } catch (error) {
    if (isHookError(error)) return undefined
    throw error
  }
}

/** One that cannot be opened is laid aside, and the others go on. */
async function bury(
  pool: Pool,
  rows: readonly ClaimedDelivery[],
  { opened, now }: { opened: readonly ClaimedDelivery[]; now: number },
): Promise<void> {
  const good = new Set(opened.map((row) => row.id))
  const bad = rows.filter((row) => !good.has(row.id))
  await pool.query({ text: BURY, values: [bad.map((row) => row.id), rows[0]?.lease, now] })
}

function asRow(end: DeliveryEnd) {
  const { id, lease } = end
  if (end.end === 'done') return { id, lease, state: 'done', due_at: null, error: null }
  const due_at = end.end === 'retry' ? end.due_at : null
  return { id, lease, state: end.end === 'retry' ? 'waiting' : 'dead', due_at, error: end.error }
}
