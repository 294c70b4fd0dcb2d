import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { isHookError } from '../../../engine/core/error.ts'
import type { Secrets } from '../../../safe/secret.ts'
import { payloadPlace } from '../../paths.ts'
import type { ClaimedDelivery, DeliveryEnd, DeliveryStore } from '../../stores/delivery-store.ts'
import { number, type Row, text, transactions } from './prepared-statement.ts'

type Claim = Parameters<DeliveryStore['claimDeliveries']>[0]

export function deliveriesByHand(database: DatabaseSync, secrets: Secrets) {
  const transaction = transactions(database)
  const due = database.prepare(
    `select id, tenant_id, kind, dedup_key, payload, attempts, due_at, created_at from deliveries
     where kind = ? and state in ('waiting', 'leased') and due_at <= ? order by due_at, id limit ?`,
  )
  const lease = database.prepare(
    `update deliveries set state = 'leased', attempts = attempts + 1, due_at = ?, lease = ?, updated_at = ?
     where id = ?`,
  )
  const bury = database.prepare(
    `update deliveries set state = 'dead', lease = null, last_error = ?, updated_at = ? where id = ?`,
  )
  // A done one is kept for its dedup key only, so nobody needs its payload.
  const done = database.prepare(
    `update deliveries set state = 'done', payload = '', lease = null, last_error = null, updated_at = ?
     where id = ? and lease = ? and state = 'leased'`,
  )
  const failed = database.prepare(
    `update deliveries set state = ?, due_at = coalesce(?, due_at), lease = null, last_error = ?, updated_at = ?
     where id = ? and lease = ? and state = 'leased'`,
  )

  /** Kind by kind, because only then the index gives the oldest first. */
  const oldest = ({ kinds, now, limit }: Claim): readonly Row[] =>
    kinds
      .flatMap((kind) => due.all(kind, now, limit))
      .sort((a, b) => number(a.due_at) - number(b.due_at))
      .slice(0, limit)

  /** One that cannot be opened is laid aside, and the others go on. */
  const take = (row: Row, held: string, claim: Claim): ClaimedDelivery | undefined => {
    const id = text(row.id)
    const payload = openPayload(secrets, row)
    if (payload === undefined) {
      bury.run('secret.unreadable', claim.now, id)
      return undefined
    }
    lease.run(claim.lease_until, held, claim.now, id)
    return {
      id,
      tenant: text(row.tenant_id),
      kind: text(row.kind),
      dedup_key: text(row.dedup_key),
      payload,
      attempt: number(row.attempts) + 1,
      lease: held,
      created_at: number(row.created_at),
    }
  }
  const end = (ended: DeliveryEnd, now: number): boolean => {
    const { id, lease: held } = ended
    const { changes } =
      ended.end === 'done'
        ? done.run(now, id, held)
        : ended.end === 'retry'
          ? failed.run('waiting', ended.due_at, ended.error, now, id, held)
          : failed.run('dead', null, ended.error, now, id, held)
    return changes === 1
  }
  return {
    claim: (claim: Claim): readonly ClaimedDelivery[] =>
      transaction(() => {
        const held = `${claim.worker}/${randomUUID()}`
        const claimed: ClaimedDelivery[] = []
        for (;;) {
          const rows = oldest({ ...claim, limit: claim.limit - claimed.length })
          for (const row of rows) {
            const taken = take(row, held, claim)
            if (taken !== undefined) claimed.push(taken)
          }
          if (rows.length === 0 || claimed.length >= claim.limit) return claimed
        }
      }),
    end: (ends: readonly DeliveryEnd[], now: number): readonly string[] =>
      transaction(() => ends.filter((ended) => end(ended, now)).map((ended) => ended.id)),
  }
}

function openPayload(secrets: Secrets, row: Row): string | undefined {
  try {
    return secrets.decrypt(text(row.payload), payloadPlace(text(row.id)))
  } catch (error) {
    if (isHookError(error)) return undefined
    throw error
  }
}
