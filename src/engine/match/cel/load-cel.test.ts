import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { compileMatcher } from '../matcher.ts'

const { cache } = createRequire(import.meta.url)
const isLoaded = (): boolean => Object.keys(cache).some((path) => path.includes('@bufbuild/cel/'))

test('the CEL library is loaded by the first if_expr, at once, and not before', () => {
  compileMatcher({ matcher: 'Bash(git push*)', match: { fields: { a: 1 } } }, 'pre_tool_use')
  expect(isLoaded()).toBe(false)
  compileMatcher({ if_expr: 'depth == 1' }, 'pre_tool_use')
  expect(isLoaded()).toBe(true)
})
