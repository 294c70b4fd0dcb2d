import { expect, test } from 'vitest'
import { runOutcome } from './run-outcome.ts'

test.each([
  ['completed', null, 'success'],
  ['failed', 'no ink', 'failed'],
  ['failed', null, 'failed'],
  ['failed', 'No matching runner available within timeout', 'timeout'],
  ['failed', 'The runner of the run was lost 3 times', 'timeout'],
  ['failed', 'the run took longer than 60 s and was ended', 'timeout'],
  ['stopped', null, 'unknown'],
] as const)('a run that is %s with the error %j has the outcome %s', (status, error, outcome) => {
  expect(runOutcome({ status, error })).toBe(outcome)
})
