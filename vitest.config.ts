import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { isResultSuite, resultsFile } from './scripts/test-results.ts'
import { AVOID_WASM_CRASH } from './src/safe/avoid-wasm-crash.ts'
import { bundledThreads } from './test/threads/bundled-threads.ts'

const compileCache = fileURLToPath(new URL('node_modules/.cache/hookhelm/compile', import.meta.url))

const tests = '{src,test}/**/*.test.ts'
const longTests = '{src,test}/**/*.long.test.ts'
const releaseTests = '{src,test}/**/*.release.test.ts'
const differential = 'test/shell/differential.test.ts'
/** What a gateway does with runs on either database, above the operations that every store is tested with. */
const onEitherDatabase = 'test/runs/{protocol,runs}.test.ts'

/** What `vitest run --mode=<suite>` runs; CONTRIBUTING.md says which test belongs where. */
const suites: Readonly<
  Record<string, { include: string[]; exclude?: string[]; env?: Record<string, string> }>
> = {
  test: {
    include: [tests],
    exclude: [longTests, releaseTests],
    env: { SHELL_LINES: '40', DATABASE: 'SQLite' },
  },
  long: {
    include: [longTests, differential, onEitherDatabase],
    env: { SHELL_LINES: '500', DATABASE: 'PostgreSQL' },
  },
  release: { include: [releaseTests, differential], env: { SHELL_LINES: '20000' } },
  quick: {
    include: ['src/**/*.test.ts'],
    exclude: [longTests, releaseTests, 'src/store/{postgres,sqlite}/**', 'src/safe/process/**'],
    env: { QUICK: '1' },
  },
  // What works with files and folders of a person.
  elsewhere: {
    include: [
      'src/{agents,connect,engine/match,hook-files,rules,runs,stored-hooks}/**/*.test.ts',
      'test/{hook-files,packs,trust}/*.test.ts',
      'test/connect/*.test.ts',
    ],
    exclude: [longTests, releaseTests],
    env: { QUICK: '1' },
  },
}

const words = process.argv.slice(2).filter((word) => word !== 'run')
const isWhole = words.every((word) => word.startsWith('--'))

export default defineConfig(({ mode }) => {
  // Files that are named run wherever they belong.
  const { include, exclude = [], env } = (isWhole && suites[mode]) || { include: [tests] }
  // Only a whole run may leave results: the conformance page would lose its proofs to `vitest run some-file`.
  const leavesResults = isWhole && isResultSuite(mode)
  return {
    plugins: [bundledThreads],
    test: {
      include,
      exclude: ['**/node_modules/**', ...exclude],
      globalSetup: [
        'test/threads/global-setup.ts',
        'test/postgres/global-setup.ts',
        ...(['quick', 'elsewhere'].includes(mode)
          ? []
          : ['test/ui/global-setup.ts', 'test/shell/global-setup.ts']),
      ],
      // Many tests wait for a process or a database while others compute.
      maxWorkers: 3,
      // Modules stay loaded from one file to the next; a test that needs a fresh one starts a process.
      isolate: false,
      // From source every thread strips types with WebAssembly.
      execArgv: [AVOID_WASM_CRASH],
      // A limit guards against hanging; it measures nothing, so that a busy machine fails no test.
      testTimeout: 120_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 60_000 } },
      // Child processes start in less than half the CPU time: Node keeps compiled modules here.
      env: { NODE_COMPILE_CACHE: compileCache, ...env },
      reporters: leavesResults ? ['default', 'json'] : ['default'],
      ...(leavesResults ? { outputFile: { json: resultsFile(mode) } } : {}),
      typecheck: {
        enabled: mode === 'long',
        include: ['src/**/*.test-d.ts', 'test/**/*.test-d.ts'],
        // Errors outside of type tests are the business of `npm run types`.
        ignoreSourceErrors: true,
      },
    },
  }
})
