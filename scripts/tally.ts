import { readTestRun } from './test-results.ts'

const run = readTestRun()
if (run === undefined) {
  console.error('no test results: run `npm test` and `npm run test:long` first')
  process.exitCode = 1
} else {
  console.log(`${run.passed} passed, ${run.failed} failed`)
}
