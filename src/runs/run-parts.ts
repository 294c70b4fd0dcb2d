import type { Log } from '../engine/core/records/sink.ts'
import type { Clock } from '../engine/core/time/clock.ts'
import type { Edition } from '../engine/core/values/edition.ts'
import type { HookStore } from '../stored-hooks/hook-tables.ts'
import type { RunEventName } from './hooks/run-hook-points.ts'
import type { RunHookReports } from './hooks/run-hook-reports.ts'
import type { DispatchRunEvent, RunRefusal } from './prepare-run.ts'
import type { RunEvents } from './run-events.ts'
import type { RunWaits } from './run-waits.ts'
import type { RunRow, RunStore } from './stored/run-tables.ts'

/** What the steps of a run share. The coordinator makes it once. */
export interface RunParts {
  readonly store: RunStore & Pick<HookStore, 'findHook'>
  readonly events: RunEvents
  readonly edition: Edition
  readonly waits: RunWaits
  readonly clock: Clock
  readonly log: Log
  readonly leaseMs: number
  /** How long a poll waits for a run, and a report with a result for its hooks. */
  readonly pollMs: number
  readonly dispatch: DispatchRunEvent
  readonly reports: RunHookReports
  /** Whether any hook of the tenant listens to the event; true if that is not known. */
  hasHooks(tenant: string, event: RunEventName): Promise<boolean>
  /** Ends the run. */
  fail(run: RunRow, end: RunRefusal): Promise<void>
}

/** What creating a run needs. */
export type CreateRunParts = Pick<RunParts, 'store' | 'events' | 'edition'>
