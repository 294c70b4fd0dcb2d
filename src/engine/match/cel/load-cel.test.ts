import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** In a process of its own: here, another test may have loaded it. */
const program = `
import { createRequire } from 'node:module'
import { compileMatcher } from '${new URL('../matcher.ts', import.meta.url)}'
const { cache } = createRequire(import.meta.url)
const isLoaded = () => Object.keys(cache).some((path) => path.includes('@bufbuild/cel/'))
compileMatcher({ matcher: 'Bash(git push*)', match: { fields: { a: 1 } } }, 'pre_tool_use')
const before = isLoaded()
compileMatcher({ if_expr: 'depth == 1' }, 'pre_tool_use')
console.log(JSON.stringify([before, isLoaded()]))
`

test('the CEL library is loaded by the first if_expr, at once, and not before', () => {
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  expect(JSON.parse(printed)).toEqual([false, true])
})
