import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorTable } from '../src/engine/core/errors/error-table.ts'
import { handlerErrors } from '../src/engine/core/errors/handler-errors.ts'
import { serverErrors } from '../src/engine/core/errors/server-errors.ts'

const codes = Object.keys({ ...errorTable, ...handlerErrors, ...serverErrors })

const self = 'test/error-codes.test.ts'
const sources = globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'test/cases/**/*.yaml'])
  .filter((file) => file !== self)
  .map((file) => readFileSync(file, 'utf8'))

test('every code is expected by at least one test', () => {
  const unexpected = codes.filter((code) => !sources.some((source) => expects(source, code)))
  expect(unexpected).toEqual([])
})

test('the reference page lists every code, and no dead one', () => {
  const page = readFileSync('docs/errors.md', 'utf8')
  const listed = [...page.matchAll(/^\| `([a-z_]+\.[a-z0-9_]+)` \|/gm)].map(([, code]) => code)
  expect(listed.toSorted()).toEqual(codes.toSorted())
})

/** As a string of its own in a test, or as a value in a case file; a mention in a title or comment is no proof. */
function expects(source: string, code: string): boolean {
  const literal = code.replace('.', '\\.')
  return new RegExp(`(['"\`])${literal}\\1|code: ${literal}\\b`).test(source)
}
