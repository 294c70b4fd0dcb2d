import type { Store } from '../store.ts'
import type { AuditVerdict } from '../stores/audit-store.ts'
import type { RuleStore } from '../stores/rule-store.ts'
import type { RunStore } from '../stores/run-store.ts'
import { agentQueries } from './agent-queries.ts'
import { approvalQueries } from './approval-queries.ts'
import { approvalRouteQueries } from './approval-route-queries.ts'
import { eventQueries } from './audit/event-queries.ts'
import { historyQueries } from './audit/history-queries.ts'
import { type RecordMethods, recordMethods } from './audit/journal.ts'
import { createProjector, type Projector } from './audit/projector.ts'
import { pruneAudit } from './audit/remove-audit.ts'
import { verifyChains } from './audit/verify-audit.ts'
import { budgetQueries } from './budget-queries.ts'
import { changeQueries } from './change-queries.ts'
import { clampWindows } from './clamp-windows.ts'
import { deliveryQueries } from './delivery-queries.ts'
import { hookQueries } from './hook-queries.ts'
import { countKeyUses } from './key-uses.ts'
import { resealQueries } from './reseal-queries.ts'
import { firingQueries } from './rules/firing-queries.ts'
import { mailboxQueries } from './rules/mailbox-queries.ts'
import { environmentQueries, ruleQueries, teamQueries } from './rules/rule-queries.ts'
import { blueprintQueries, runHookQueries } from './runs/blueprint-queries.ts'
import { runEventQueries } from './runs/run-event-queries.ts'
import { type CountSealed, runQueries, runSessionQueries } from './runs/run-queries.ts'
import { runStateQueries } from './runs/run-state.ts'
import { runnerQueries, takeRun } from './runs/runner-queries.ts'
import { sessionQueries } from './session-queries.ts'
import type { SqlDatabase } from './sql-database.ts'
import { tenantQueries } from './tenant-queries.ts'
import { vaultQueries } from './vault-queries.ts'
import { eventListQueries } from './views/event-list.ts'
import { statisticQueries } from './views/statistics.ts'

/** The store without its connection. The dialect adds `close`, which calls `flush` first. */
export interface SqlStore
  extends Omit<Store, 'dialect' | 'ping' | 'onHint' | 'onRunHint' | 'onApprovalHint' | 'close'> {
  recordBytes: RecordMethods['recordBytes']
  flush(): Promise<void>
}

/** How long a reader waits until recorded events are in rows; after a burst the rest follows later. */
const READ_MS = 1_000
const CLOSE_MS = 1_000

export async function createSqlStore(db: SqlDatabase): Promise<SqlStore> {
  const vault = vaultQueries(db)
  const keyUses = countKeyUses(db.secrets, vault.addKeyUses)
  const projector = await createProjector(db, keyUses.add)
  const forReading = afterCatchUp(() => projector.catchUp(READ_MS))
  const whenComplete = afterCatchUp(() => projector.catchUp())
  const events = eventQueries(db)
  const tenants = tenantQueries(db)
  return {
    ...hookQueries(db),
    ...changeQueries(db),
    ...recordMethods(db, projector, keyUses.add),
    ...forReading(historyQueries(db)),
    ...forReading(events),
    ...forReading(eventListQueries(db)),
    ...forReading(statisticQueries(db)),
    ...forReading({
      tailEvents: db.statements.tailEvents,
    }),
    // Answers are written at once, not projected.
    findAnswer: events.findAnswer,
    ...whenComplete({
      verifyAudit: () => verifyAudit(db, projector),
      prune: (limits: Parameters<Store['prune']>[0], now?: number) => pruneAudit(db, limits, now),
      ...resealQueries(db),
    }),
    ...deliveryQueries(db),
    ...budgetQueries(db),
    clampWindows: (longest, now) => clampWindows(db, longest, now),
    takeGuards: (tenant, requests, now) => db.statements.takeGuards(tenant, requests, now),
    ...sessionQueries(db),
    ...tenants,
    // A deleted tenant takes its recorded events with it.
    ...whenComplete({ deleteTenant: tenants.deleteTenant }),
    ...vault,
    ...agentQueries(db),
    ...runStore(db, keyUses.add),
    ...approvalQueries(db, keyUses.add),
    ...approvalRouteQueries(db),
    ...ruleStore(db, keyUses.add),
    async flush() {
      await projector.catchUp(CLOSE_MS)
      await projector.stop()
      await keyUses.flush()
    },
  }
}

function runStore(db: SqlDatabase, countSealed: CountSealed): RunStore {
  const state = runStateQueries(db, countSealed)
  return {
    ...blueprintQueries(db),
    ...runHookQueries(db),
    ...runQueries(db, countSealed),
    ...runSessionQueries(db),
    ...state,
    takeRun: takeRun(db, state.reportRun),
    ...runnerQueries(db),
    ...runEventQueries(db, countSealed),
  }
}

function ruleStore(db: SqlDatabase, countSealed: CountSealed): RuleStore {
  return {
    ...ruleQueries(db, countSealed),
    ...teamQueries(db, countSealed),
    ...environmentQueries(db, countSealed),
    ...mailboxQueries(db, countSealed),
    ...firingQueries(db, countSealed),
  }
}

/** Verifies the chains and the journal. An entry that cannot become rows counts as changed. */
async function verifyAudit(db: SqlDatabase, projector: Projector): Promise<AuditVerdict> {
  const verdict = await verifyChains(db)
  const unreadable = verdict.broken === undefined ? await projector.firstUnreadable() : undefined
  if (unreadable === undefined) return verdict
  return { ...verdict, broken: { chain: 'journal', seq: unreadable, why: 'the entry cannot be read' } }
}

type Methods = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>

/** Wraps methods so that each first waits until the recorded events are in rows. */
function afterCatchUp(catchUp: () => Promise<void>): <M extends object>(methods: M) => M {
  return (methods) => {
    const entries = Object.entries(methods as Methods).map(([name, method]) => [
      name,
      (...args: never[]) => catchUp().then(() => method(...args)),
    ])
    // The same names with the same types.
    return Object.fromEntries(entries) as typeof methods
  }
}
