import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { deliveryPayloadPath } from '../database/sealed-paths.ts'
import {
  numberColumn,
  prepareTransaction,
  type SqliteRow,
  textColumn,
} from '../database/sqlite/prepared-statement.ts'
import { isHookError } from '../engine/core/errors/error.ts'
import { systemClock } from '../engine/core/time/clock.ts'
import type { Secrets } from '../safe/secrets/secret.ts'
import type { ClaimedDelivery, ClaimRequest, DeliveryEnd } from './delivery-table.ts'

type Claim = Required<ClaimRequest>

/** Long because each statement stands beside the functions that use it. */
export function prepareDeliveryClaims(database: DatabaseSync, secrets: Secrets) {
  const transaction = prepareTransaction(database)
  const due = database.prepare(
    `select id, tenant_id, kind, dedup_key, payload, attempts, due_at, created_at from deliveries
     where kind = ? and state in ('waiting', 'leased') and due_at <= ? order by due_at, id limit ?`,
  )
  const lease = database.prepare(
    `update deliveries set state = 'leased', attempts = attempts + 1, due_at = ?, lease = ?, updated_at = ?
     where id = ?`,
  )
  const markDead = database.prepare(
    `update deliveries set state = 'dead', lease = null, last_error = ?, updated_at = ? where id = ?`,
  )
  // A done delivery only keeps its dedup key, so its payload goes.
  const done = database.prepare(
    `update deliveries set state = 'done', payload = '', lease = null, last_error = null, updated_at = ?
     where id = ? and lease = ? and state = 'leased'`,
  )
  const failed = database.prepare(
    `update deliveries set state = ?, due_at = coalesce(?, due_at), lease = null, last_error = ?, updated_at = ?
     where id = ? and lease = ? and state = 'leased'`,
  )

  /** One query per kind, because only then the index returns the oldest first. */
  const oldest = ({ kinds, now, limit }: Claim): readonly SqliteRow[] =>
    kinds
      .flatMap((kind) => due.all(kind, now, limit))
      .sort((a, b) => numberColumn(a.due_at) - numberColumn(b.due_at))
      .slice(0, limit)

  /** Leases a row. A row that cannot be decrypted becomes dead, and the others continue. */
  const take = (row: SqliteRow, held: string, claim: Claim): ClaimedDelivery | undefined => {
    const id = textColumn(row.id)
    const payload = openPayload(secrets, row)
    if (payload === undefined) {
      markDead.run('secret.unreadable', claim.now, id)
      return undefined
    }
    lease.run(claim.now + claim.lease_ms, held, claim.now, id)
    return {
      id,
      tenant: textColumn(row.tenant_id),
      kind: textColumn(row.kind),
      dedup_key: textColumn(row.dedup_key),
      payload,
      attempt: numberColumn(row.attempts) + 1,
      lease: held,
      created_at: numberColumn(row.created_at),
    }
  }
  const end = (ended: DeliveryEnd, now: number): boolean => {
    const { id, lease: held } = ended
    const { changes } =
      ended.end === 'done'
        ? done.run(now, id, held)
        : ended.end === 'retry'
          ? failed.run('waiting', now + ended.retry_ms, ended.error, now, id, held)
          : failed.run('dead', null, ended.error, now, id, held)
    return changes === 1
  }
  return {
    claim: (given: ClaimRequest): readonly ClaimedDelivery[] =>
      transaction(() => {
        const claim = { now: systemClock.now(), ...given }
        const held = `${claim.worker}/${randomUUID()}`
        const claimed: ClaimedDelivery[] = []
        for (;;) {
          const rows = oldest({ ...claim, limit: claim.limit - claimed.length })
          for (const row of rows) {
            const delivery = take(row, held, claim)
            if (delivery !== undefined) claimed.push(delivery)
          }
          if (rows.length === 0 || claimed.length >= claim.limit) return claimed
        }
      }),
    end: (ends: readonly DeliveryEnd[], now = systemClock.now()): readonly string[] =>
      transaction(() => ends.filter((ended) => end(ended, now)).map((ended) => ended.id)),
  }
}

function openPayload(secrets: Secrets, row: SqliteRow): string | undefined {
  try {
    return secrets.decrypt(textColumn(row.payload), deliveryPayloadPath(textColumn(row.id)))
  } catch (error) {
    if (isHookError(error)) return undefined
    throw error
  }
}
