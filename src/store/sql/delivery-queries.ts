import { sql } from 'kysely'
import type { DeliveryState, DeliveryStore } from '../stores/delivery-store.ts'
import { isUuid, readUnion } from './column-values.ts'
import { pageFromRows, readTextCursor } from './page-cursor.ts'
import type { SqlDatabase } from './sql-database.ts'

const listedStates = ['waiting', 'leased', 'dead'] as const satisfies readonly DeliveryState[]
const everyState = [...listedStates, 'done'] as const

// States are literals in the SQL text: a partial index over states cannot serve a parameter.
export function deliveryQueries(db: SqlDatabase): DeliveryStore {
  const { codec } = db
  return {
    claimDeliveries: (claim) => db.statements.claimDeliveries(claim),
    endDeliveries: (ends, now) => db.statements.endDeliveries(ends, now),

    extendLeases: (leases, lease_ms, now) =>
      db.system(async (trx) => {
        for (const { id, lease } of leases)
          await trx
            .updateTable('deliveries')
            .set({ due_at: sql<number>`${codec.now(now)} + ${lease_ms}` })
            .where('id', '=', id)
            .where('lease', '=', lease)
            .where('state', '=', 'leased')
            .execute()
      }),

    listDeliveries: (tenant, { state, kind }, { cursor, limit }) =>
      db.tenant(tenant, async (trx) => {
        const from = cursor ? readTextCursor(cursor) : undefined
        const rows = await trx
          .selectFrom('deliveries')
          .select(['id', 'tenant_id', 'kind', 'dedup_key', 'state', 'attempts', 'due_at'])
          .select(['last_error', 'created_at'])
          .where('tenant_id', '=', tenant)
          .where(sql<boolean>`state <> 'done'`)
          .$if(state !== undefined, (query) => query.where('state', '=', state ?? ''))
          .$if(kind !== undefined, (query) => query.where('kind', '=', kind ?? ''))
          .$if(from !== undefined, (query) =>
            query.where((eb) =>
              eb(eb.refTuple('created_at', 'id'), '<', eb.tuple(from?.time ?? 0, from?.key ?? '')),
            ),
          )
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .limit(limit + 1)
          .execute()
        return pageFromRows(
          rows.map((row) => ({ ...row, state: readUnion(listedStates, row.state) })),
          limit,
          (row) => ({ time: row.created_at, key: row.id }),
        )
      }),

    findDeliveries: (tenant, dedupKeys) =>
      db.tenant(tenant, async (trx) => {
        if (dedupKeys.length === 0) return []
        const rows = await trx
          .selectFrom('deliveries')
          .select(['dedup_key', 'state', 'attempts', 'last_error'])
          .where('tenant_id', '=', tenant)
          .where('dedup_key', 'in', dedupKeys)
          .execute()
        return rows.map((row) => ({ ...row, state: readUnion(everyState, row.state) }))
      }),

    replayDeliveries: (tenant, ids, now) =>
      db.tenant(tenant, async (trx) => {
        const wanted = ids === 'all' ? 'all' : ids.filter(isUuid)
        if (wanted.length === 0) return 0
        const rows = await trx
          .updateTable('deliveries')
          .set({ state: 'waiting', attempts: 0, due_at: codec.now(now), lease: null, last_error: null })
          .set({ updated_at: codec.now(now) })
          .where('tenant_id', '=', tenant)
          .where('state', '=', 'dead')
          .$if(wanted !== 'all', (query) => query.where('id', 'in', wanted === 'all' ? [] : wanted))
          .returning('id')
          .execute()
        return rows.length
      }),

    nextDelivery: (kinds) =>
      db.system(async (trx) => {
        const due: number[] = []
        for (const kind of kinds) {
          const first = await trx
            .selectFrom('deliveries')
            .select('due_at')
            .where('kind', '=', kind)
            .where(sql<boolean>`state in ('waiting', 'leased')`)
            .orderBy('due_at')
            .limit(1)
            .executeTakeFirst()
          if (first !== undefined) due.push(first.due_at)
        }
        return due.length === 0 ? undefined : Math.min(...due)
      }),
  }
}
