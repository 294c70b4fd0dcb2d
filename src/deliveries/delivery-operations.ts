import { sql } from 'kysely'
import { isUuid } from '../database/column-values.ts'
import {
  inSystem,
  inSystemAt,
  inTenant,
  inTenantAt,
  operation,
  type Tx,
  timed,
} from '../database/operation.ts'
import { insert, type PageRequest, page, update } from '../database/rows.ts'
import { deliveryPayloadPath } from '../database/sealed-paths.ts'
import {
  type ClaimRequest,
  type DeliveryEnd,
  type DeliveryProgress,
  type DeliveryRow,
  type DeliveryState,
  deliveries,
  type NewDelivery,
} from './delivery-table.ts'

export interface Held {
  readonly id: string
  readonly lease: string
}

// Literals in the SQL text: a partial index over states cannot serve a parameter.
const isListed = sql`state <> 'done'`

/** Without `now` an operation uses the clock of the store, which all nodes share. */
export const deliveryOperations = {
  /** Claims the oldest due deliveries of all tenants that no worker holds. An expired lease does not hold. */
  claimDeliveries: operation(timed, ({ db, sentAt }, claim: ClaimRequest) =>
    db.statements.claimDeliveries(sentAt === undefined ? claim : { now: sentAt, ...claim }),
  ),

  /** Returns the ids that were ended; a lost lease ends nothing. A done delivery keeps its dedup key until it is pruned. */
  endDeliveries: operation(timed, ({ db, sentAt }, ends: readonly DeliveryEnd[], now?: number) =>
    db.statements.endDeliveries(ends, now ?? sentAt),
  ),

  extendLeases: inSystemAt(async (tx, leases: readonly Held[], lease_ms: number): Promise<void> => {
    const due_at = sql`${tx.now()} + ${lease_ms}`
    for (const { id, lease } of leases)
      await update(tx, deliveries, { id, lease, state: 'leased' }, { due_at })
  }, timed),

  listDeliveries: inTenant(
    async (
      tx,
      tenant: string,
      filter: { readonly state?: DeliveryState; readonly kind?: string },
      request: PageRequest,
    ) => {
      const by = ['created_at', 'id'] as const
      const match = { tenant_id: tenant, ...filter }
      const found = await page(tx, deliveries, { ...request, match, and: [isListed], by })
      // Done ones are left out.
      return { ...found, rows: found.rows as readonly DeliveryRow[] }
    },
  ),

  /** Done ones too, until they are pruned. Unknown keys are absent. */
  findDeliveries: inTenant(
    async (tx, tenant: string, dedupKeys: readonly string[]): Promise<readonly DeliveryProgress[]> => {
      if (dedupKeys.length === 0) return []
      const { rows } =
        await sql<DeliveryProgress>`select dedup_key, state, attempts, last_error from deliveries
        where tenant_id = ${tenant} and dedup_key in (${sql.join(dedupKeys)})`.execute(tx.trx)
      return rows
    },
  ),

  /** Makes dead deliveries due again, with their attempts reset. Returns how many. */
  replayDeliveries: inTenantAt(async (tx, tenant: string, ids: readonly string[] | 'all') => {
    const wanted = ids === 'all' ? ids : ids.filter(isUuid)
    if (wanted.length === 0) return 0
    const now = tx.now()
    const waiting = { state: 'waiting', attempts: 0, lease: null, last_error: null } as const
    const replayed = await update(
      tx,
      deliveries,
      { tenant_id: tenant, state: 'dead' },
      { ...waiting, due_at: now, updated_at: now },
      wanted === 'all' ? [] : [sql`id in (${sql.join([...wanted])})`],
    )
    return replayed.length
  }, timed),

  /** When the next delivery is due; undefined if none waits. */
  nextDelivery: inSystem(async (tx, kinds: readonly string[], _now: number) => {
    const due: number[] = []
    for (const kind of kinds) {
      const { rows } = await sql<{ due_at: number }>`select due_at from deliveries
        where kind = ${kind} and state in ('waiting', 'leased') order by due_at limit 1`.execute(tx.trx)
      due.push(...rows.map((row) => row.due_at))
    }
    return due.length === 0 ? undefined : Math.min(...due)
  }),
}

/** Queues work in the transaction of what caused it. Existing dedup keys stay as they are. */
export async function insertDelivery(
  tx: Tx,
  { tenant, due_at, payload, ...delivery }: NewDelivery,
  now: number,
): Promise<void> {
  const sealed = tx.db.secrets.encrypt(payload, deliveryPayloadPath(delivery.id))
  const row = { tenant_id: tenant, ...delivery, payload: sealed, updated_at: delivery.created_at }
  await insert(tx, deliveries, { ...row, due_at: due_at ?? now, state: 'waiting', attempts: 0 }, 'keep any')
}
