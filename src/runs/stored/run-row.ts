import { readRows } from '../../database/rows.ts'
import type { SqlDatabase } from '../../database/sql-database.ts'
import type { NewRowOf, WholeRowOf } from '../../database/table.ts'
import { demandKeys } from './demand-keys.ts'
import { type NewRun, type RunRow, runs } from './run-tables.ts'

/** A run with what only the store knows of it. */
export type WholeRun = WholeRowOf<typeof runs>

/** The columns of a new run that the caller of `createRun` decides. */
export function newRunColumns(run: NewRun) {
  return {
    ...run,
    ...demandKeys(run.demands),
    status: 'pending',
    is_prepared: false,
    timed_out: false,
    attempts: 0,
    preparations: 0,
    hooks: 0,
    finish_pending: false,
  } as const satisfies Partial<NewRowOf<typeof runs>>
}

/** A run from a statement that returns all columns. */
export function readRun(db: SqlDatabase, row: unknown): RunRow {
  const [run] = readRows<typeof runs, WholeRun>({ db }, runs, [row])
  if (run === undefined) throw new TypeError('one row is read as one run')
  return shownRun(run)
}

/** What callers see of a run. */
export function shownRun(run: WholeRun): RunRow {
  const { position, demand_key, tag_keys, key, claim_within_ms, preparations, ...others } = run
  const { lease, lease_ms, due_at, finish_pending, finish_due_at, ...shown } = others
  return shown
}
