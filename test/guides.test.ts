import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { errorTable } from '../src/index.ts'
import { fencedBlocks, readGuide } from './guides/read-guide.ts'
import { Scratch } from './guides/scratch.ts'

/** Each runs the compiler. */

const contributing = readFileSync('CONTRIBUTING.md', 'utf8')
const readme = readFileSync('README.md', 'utf8')

describe('the guides of CONTRIBUTING.md', () => {
  test.each([
    ['Add an event', { edits: 1, files: ['try.ts'] }],
    ['Add a handler', { edits: 0, files: ['src/handlers/deny.ts', 'try.ts'] }],
    ['Add a guard', { edits: 5, files: ['src/engine/guard/session-cooldown.ts', 'try.ts'] }],
  ])('%s: compiles and prints what the guide says', async (title, asks) => {
    const guide = readGuide(contributing, title)
    expect({ edits: guide.edits.length, files: [...guide.files.keys()] }).toEqual(asks)
    using scratch = new Scratch()
    scratch.follow(guide)
    const [errors, printed] = await Promise.all([scratch.typeErrors(), scratch.printed('try.ts')])
    expect(errors).toBe('')
    expect(withoutTrailingSpace(printed)).toBe(guide.prints)
  })

  test('Add an event: a payload that does not fit the new row is a type error', async () => {
    using scratch = new Scratch()
    scratch.follow(readGuide(contributing, 'Add an event'))
    scratch.write(
      'wrong.ts',
      `import { createHooks } from 'hookhelm'
      await createHooks().dispatch('branch_merge', { branch: 1, into: 'main' })`,
    )
    expect(await scratch.typeErrors()).toMatch(/^wrong\.ts.*'number' is not assignable to type 'string'/)
  })
})

describe('README.md', () => {
  test('has exactly two set-up commands, each on one line in a block of its own', () => {
    const commands = fencedBlocks(readme).map(({ code }) => code)
    expect(commands.filter((code) => code.includes('npm install &&'))).toEqual([
      'npm install && npm start\n',
      'npm install && npm test\n',
    ])
  })

  test('the quick start compiles and prints what it says', async () => {
    const guide = readGuide(readme, 'Quick start for programs')
    using scratch = new Scratch()
    scratch.follow(guide)
    const [errors, printed] = await Promise.all([scratch.typeErrors(), scratch.printed('try.ts')])
    expect(errors).toBe('')
    expect(printed).toBe(guide.prints)
    expect(guide.files.get('try.ts')?.trimEnd().split('\n').length).toBeLessThanOrEqual(12)
  })
})

const written = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/lifecycle.md',
  'docs/library.md',
  'docs/hook-files.md',
  'docs/matchers.md',
  'docs/gateway.md',
  'docs/agents.md',
  'docs/sdk.md',
  'docs/mcp.md',
]

test.each(written)('%s names no file that is not there', (page) => {
  const text = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
  const links = [...text.matchAll(/\]\(([^):#]+)\)/g)].map(([, to = '']) => join(dirname(page), to))
  const named = [...text.matchAll(/`((?:src|test|scripts|examples|docs)(?:\/[\w-][\w.-]*)+)`/g)]
  const paths = [...links, ...named.map(([, path = '']) => path)]
  expect(paths.filter((path) => !existsSync(path))).toEqual([])
})

test('docs/lifecycle.md has a place for every code that a dispatch can meet', () => {
  const page = readFileSync('docs/lifecycle.md', 'utf8')
  const met = Object.keys(errorTable).filter((code) => /^(input|guard|handler|engine)\./.test(code))
  expect(met.filter((code) => !page.includes(code))).toEqual([])
  const codes = [...page.matchAll(/\b(?:input|match|guard|handler|engine)\.[a-z0-9_]+/g)].map(
    ([code]) => code,
  )
  expect(codes.filter((code) => !Object.hasOwn(errorTable, code))).toEqual([])
})

function withoutTrailingSpace(text: string): string {
  return text.replace(/ +$/gm, '')
}
