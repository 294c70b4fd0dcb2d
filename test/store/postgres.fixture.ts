import type { NewDelivery } from '../../src/deliveries/delivery-table.ts'
import type { EventRecord } from '../../src/history/audit-tables.ts'
import { openPostgresStore, type PostgresOptions } from '../../src/store/postgres/postgres-store.ts'
import type { Store } from '../../src/store/store.ts'
import { freshDatabase, type TestDatabase } from '../postgres/database.ts'
import { delivery, event, keyring, type StoreUnderTest } from './samples.fixture.ts'

export function openStore(db: TestDatabase, options: Partial<PostgresOptions> = {}): Promise<Store> {
  return openPostgresStore({ url: db.url, keyring, edition: 'standard', ...options })
}

export async function openPostgres(): Promise<StoreUnderTest> {
  const db = await freshDatabase()
  const store = await openStore(db)
  const stores: Store[] = [store]
  return {
    store,
    async reopen(other = keyring) {
      const again = await openStore(db, { keyring: other })
      stores.push(again)
      return again
    },
    async execute(text) {
      await store.holdsSealed()
      return db.query(text)
    },
    async dispose() {
      await Promise.all(stores.map((one) => one.close()))
      await db.drop()
    },
  }
}

/** An event with one execution. */
export function eventOf(tenant: string, fields: Partial<EventRecord> = {}): EventRecord {
  return event(tenant, { hooks: [{}], session_id: 's1', ...fields })
}

export function deliveryOf(tenant: string, fields: Partial<NewDelivery> = {}): NewDelivery {
  return delivery(tenant, fields.kind ?? 'hook', { due_at: 1, created_at: 1, ...fields })
}
