import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** Where a whole test run leaves its results; a run of some tests only leaves none. */
export const resultsFile = 'node_modules/.cache/hookhelm/test-results.json'

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

/** The results of the last whole test run, or nothing when there was none. */
export function readTestRun(): TestRun | undefined {
  const report = readReport()
  if (report === undefined) return undefined
  const suites = report.testResults.map((suite) => ({ ...suite, file: relative('.', suite.name) }))
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
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
  }
}

function readReport(): Report | undefined {
  try {
    return JSON.parse(readFileSync(resultsFile, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
