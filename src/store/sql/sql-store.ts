import type { Store } from '../store.ts'
import { events } from './audit/events.ts'
import { history } from './audit/history.ts'
import { pruner } from './audit/prune.ts'
import { recorder } from './audit/record.ts'
import { verifier } from './audit/verify.ts'
import { budgets } from './budgets.ts'
import type { Db } from './database.ts'
import { definitions } from './definitions.ts'
import { deliveryStore } from './deliveries.ts'
import { hookRows } from './hooks.ts'
import { keyCounter } from './key-counter.ts'
import { reseal } from './reseal/reseal.ts'
import { tenantStore } from './tenants.ts'
import { vault } from './vault.ts'

/** Everything but how a database is reached. `close` belongs to the dialect, which calls `flush` first. */
export interface SqlStore extends Omit<Store, 'dialect' | 'ping' | 'onHint' | 'close'> {
  flush(): Promise<void>
}

export function sqlStore(db: Db): SqlStore {
  const vaultMethods = vault(db)
  const counter = keyCounter(db.secrets, vaultMethods.addKeyUses)
  return {
    ...hookRows(db),
    ...definitions(db),
    ...recorder(db, counter.add),
    ...history(db),
    ...events(db),
    ...verifier(db),
    ...pruner(db),
    ...deliveryStore(db),
    ...budgets(db),
    takeGuards: (tenant, requests, now) => db.byHand.takeGuards(tenant, requests, now),
    ...tenantStore(db),
    ...vaultMethods,
    ...reseal(db),
    flush: counter.flush,
  }
}
