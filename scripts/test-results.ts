import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** The suites of which a whole run leaves results: `npm test` and `npm run test:long`. */
const RESULT_SUITES = ['test', 'long'] as const
type ResultSuite = (typeof RESULT_SUITES)[number]

export function isResultSuite(mode: string): mode is ResultSuite {
  return (RESULT_SUITES as readonly string[]).includes(mode)
}

/** Where a whole run leaves its results; a run of some tests only leaves none. */
export function resultsFile(suite: ResultSuite): string {
  return `node_modules/.cache/hookhelm/results-of-${suite}.json`
}

export interface TestResult {
  readonly file: string
  readonly title: string
  readonly passed: boolean
}

export interface TestRun {
  readonly files: readonly string[]
  readonly tests: readonly TestResult[]
  readonly passed: number
  readonly failed: number
}

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
    }[]
  }[]
}

/** The results of the last whole run of each suite, or nothing when one of them is missing. */
export function readTestRun(): TestRun | undefined {
  const reports = RESULT_SUITES.map(readReport).filter((report) => report !== undefined)
  if (reports.length < RESULT_SUITES.length) return undefined
  const suites = reports
    .flatMap((report) => report.testResults)
    .map((suite) => ({ ...suite, file: relative('.', suite.name) }))
  const tests = suites.flatMap((suite) =>
    suite.assertionResults.map((test) => ({
      file: suite.file,
      // Type tests carry the name of their file as the outermost title.
      title: [...test.ancestorTitles, test.title].filter((part) => part && part !== suite.file).join(' › '),
      passed: test.status === 'passed',
    })),
  )
  // A file that cannot be loaded or set up has no failed test; it must not look like a clean run.
  const broken = suites.filter(
    (suite) => suite.status === 'failed' && !suite.assertionResults.some((test) => test.status === 'failed'),
  )
  return {
    files: [...new Set(suites.map((suite) => suite.file))].sort(),
    tests,
    passed: sum(reports.map((report) => report.numPassedTests)),
    failed: sum(reports.map((report) => report.numFailedTests)) + broken.length,
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function readReport(suite: ResultSuite): Report | undefined {
  try {
    return JSON.parse(readFileSync(resultsFile(suite), 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
