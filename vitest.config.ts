import { defineConfig } from 'vitest/config'
import { resultsFile } from './scripts/test-results.ts'
import { AVOID_WASM_CRASH } from './src/safe/avoid-wasm-crash.ts'

const compileCache = new URL('node_modules/.cache/hookhelm/compile', import.meta.url).pathname

// Only a whole run may leave results: the conformance page would lose its proofs to `vitest run some-file`.
const whole = process.argv.slice(2).every((word) => word === 'run' || word.startsWith('--'))

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/postgres/global-setup.ts', 'test/ui/global-setup.ts', 'test/shell/global-setup.ts'],
    maxWorkers: 2,
    // From source every thread strips types with WebAssembly.
    execArgv: [AVOID_WASM_CRASH],
    // A limit guards against hanging; it measures nothing, so that a busy machine fails no test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Child processes start in less than half the CPU time: Node keeps compiled modules here.
    env: { NODE_COMPILE_CACHE: compileCache },
    reporters: whole ? ['default', 'json'] : ['default'],
    outputFile: { json: resultsFile },
    typecheck: {
      enabled: true,
      include: ['src/**/*.test-d.ts', 'test/**/*.test-d.ts'],
      // Errors outside of type tests are the business of `npm run types`.
      ignoreSourceErrors: true,
    },
  },
})
