import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fencedBlocks } from './guides/read-guide.ts'
import { Scratch } from './guides/scratch.ts'

const page = readFileSync('docs/library.md', 'utf8')
const snippets = fencedBlocks(page).filter(({ language }) => language === 'ts')
/** The compiler runs on a copy of the source; the limit only ends a hang. */
const SLOW = { timeout: 300_000 }

test('every snippet of docs/library.md compiles, and runs without an error', SLOW, async () => {
  expect(snippets.length).toBeGreaterThan(8)
  using scratch = new Scratch()
  for (const [index, { code }] of snippets.entries()) scratch.write(`snippet-${index}.ts`, code)
  expect(await scratch.typeErrors()).toBe('')
  for (const index of snippets.keys()) await scratch.printed(`snippet-${index}.ts`)
})

test('docs/library.md describes every method of a set of hooks and every property of a hook context', () => {
  const methods = [
    'on',
    'add',
    'replace',
    'dispatch',
    'dispatchSync',
    'observers',
    'toggle',
    'has',
    'list',
    'drain',
  ]
  const context = ['event', 'id', 'time', 'depth', 'envelope', 'original', 'timeoutMs', 'signal', 'report']
  const missing = [...methods, ...context].filter((name) => !new RegExp(`\`${name}[\`(]`).test(page))
  expect(missing).toEqual([])
})
