import type { Store } from '../store.ts'
import type { AuditVerdict } from '../stores/audit-store.ts'
import { events } from './audit/event-methods.ts'
import { history } from './audit/history-methods.ts'
import { type Recorder, recorder } from './audit/journal.ts'
import { createProjector, type Projector } from './audit/projector.ts'
import { pruner } from './audit/remove-audit.ts'
import { verifier } from './audit/verify-audit.ts'
import { budgets } from './budget-methods.ts'
import { deliveryStore } from './delivery-methods.ts'
import { definitions, hookRows } from './hook-methods.ts'
import { keyCounter } from './key-uses.ts'
import { reseal } from './reseal-methods.ts'
import type { Db } from './sql-database.ts'
import { tenantStore } from './tenant-methods.ts'
import { vault } from './vault-methods.ts'

/** Everything but how a database is reached. `close` belongs to the dialect, which calls `flush` first. */
export interface SqlStore extends Omit<Store, 'dialect' | 'ping' | 'onHint' | 'close'> {
  recordBytes: Recorder['recordBytes']
  flush(): Promise<void>
}

/** How long somebody who reads waits for what was recorded to be in rows; after a storm there may be more than that. */
const READ_MS = 1_000
const CLOSE_MS = 1_000

export async function sqlStore(db: Db): Promise<SqlStore> {
  const vaultMethods = vault(db)
  const counter = keyCounter(db.secrets, vaultMethods.addKeyUses)
  const projector = await createProjector(db, counter.add)
  const read = settled(() => projector.settle(READ_MS))
  const whole = settled(() => projector.settle())
  return {
    ...hookRows(db),
    ...definitions(db),
    ...recorder(db, projector, counter.add),
    ...read(history(db)),
    ...readEvents(events(db), read),
    ...whole({ verifyAudit: () => verifyAll(db, projector) }),
    ...whole(pruner(db)),
    ...deliveryStore(db),
    ...budgets(db),
    takeGuards: (tenant, requests, now) => db.byHand.takeGuards(tenant, requests, now),
    ...deletesAfter(tenantStore(db), whole),
    ...vaultMethods,
    ...whole(reseal(db)),
    async flush() {
      await projector.settle(CLOSE_MS)
      await projector.stop()
      await counter.flush()
    },
  }
}

/** The chain, and the journal: an entry that nobody could make rows of is as good as changed. */
async function verifyAll(db: Db, projector: Projector): Promise<AuditVerdict> {
  const verdict = await verifier(db).verifyAudit()
  const stuck = verdict.broken === undefined ? await projector.stuckAt() : undefined
  if (stuck === undefined) return verdict
  return { ...verdict, broken: { chain: 'journal', seq: stuck, why: 'the entry cannot be read' } }
}

type Methods = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>
type Settled = <M extends object>(methods: M) => M

/** The same methods, each after what was recorded is in rows. */
function settled(settle: () => Promise<void>): Settled {
  return (methods) => {
    const entries = Object.entries(methods as Methods).map(([name, method]) => [
      name,
      (...args: never[]) => settle().then(() => method(...args)),
    ])
    // The same names and the same types, by construction.
    return Object.fromEntries(entries) as typeof methods
  }
}

/** Kept answers are written at once, so nobody has to wait for them. */
function readEvents(given: ReturnType<typeof events>, read: Settled): ReturnType<typeof events> {
  return { ...read(given), findAnswer: given.findAnswer }
}

/** What was recorded of a tenant goes with it. */
function deletesAfter<T extends Pick<Store, 'deleteTenant'>>(given: T, whole: Settled): T {
  return { ...given, ...whole({ deleteTenant: given.deleteTenant }) }
}
