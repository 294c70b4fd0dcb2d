import type { Outcome } from '../engine/core/hook.ts'
import type { RunRow } from './stored/run-tables.ts'

/** The errors of runs that a deadline or a lease ended, as the runner and the store write them. */
const timeoutError =
  /^(?:No matching runner available within timeout|The runner of the run was lost \d+ times|Preparing the run was interrupted \d+ times)$|the run took longer than \d+ s and was ended/

/** How a run ended, as recovery rules and `match.outcome` see it. */
export function runOutcome({ status, error }: Pick<RunRow, 'status' | 'error'>): Outcome {
  if (status === 'completed') return 'success'
  if (status !== 'failed') return 'unknown'
  return timeoutError.test(error ?? '') ? 'timeout' : 'failed'
}
