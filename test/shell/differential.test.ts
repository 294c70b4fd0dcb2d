import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { analyzeShell } from '../../src/shell/index.ts'
import { findMisses } from './explain-run.ts'
import { shells } from './install-shells.ts'
import { shellLine } from './line-grammar.ts'
import { createLineSandbox } from './run-line.ts'

const numRuns = Number(process.env.SHELL_LINES ?? 500)
const seed = Number(process.env.SHELL_SEED ?? 1)
const sandbox = createLineSandbox()
afterAll(() => sandbox.remove())

/** Runs every line in every shell, and finds what the effects lack. */
function compare(lines: readonly string[]) {
  const misses: string[] = []
  let opaque = 0
  let recorded = 0
  for (const line of lines) {
    for (const shell of shells) {
      const run = sandbox.run(line, shell)
      const context = {
        cwd: run.cwd,
        home: `${run.cwd}/d1`,
        shell: shell.dialect,
        readFile: sandbox.readBefore,
      }
      const effects = analyzeShell(line, context)
      recorded += run.runs.length
      if (effects.opaque.length > 0) opaque++
      misses.push(...findMisses(run, effects).map((miss) => `${shell.name}: ${JSON.stringify(line)} ${miss}`))
    }
  }
  return { total: lines.length * shells.length, misses, opaque, recorded }
}

test(`what bash, dash and zsh do with ${numRuns} lines is among the effects`, { timeout: 7_200_000 }, () => {
  const { total, misses, opaque, recorded } = compare(fc.sample(shellLine, { numRuns, seed }))
  process.stdout.write(
    `${total} lines, ${recorded} programs ran, ${opaque} lines with opaque parts, ${misses.length} misses\n`,
  )
  expect(misses.slice(0, 50)).toEqual([])
  // Opaque marks explain everything, so they must stay the exception of a grammar that provokes them.
  expect(opaque / total).toBeLessThan(0.75)
  expect(recorded).toBeGreaterThan(total / 4)
})

test('what they do with lines that were once missed is among the effects', () => {
  const lines = parse(readFileSync(new URL('differential-lines.yaml', import.meta.url), 'utf8'))
  const { misses, recorded } = compare(lines)
  expect(misses).toEqual([])
  expect(recorded).toBeGreaterThan(lines.length)
})
