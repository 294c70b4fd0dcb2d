import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { importFormats } from '../../agents/import-file.ts'
import { hookSchema } from '../../engine/hook-definition.ts'
import { readHookText } from './read-hook-file.ts'

const page = readFileSync('docs/hook-files.md', 'utf8')

test('the examples of the page are hook files', () => {
  const examples = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)
  expect(examples.length).toBeGreaterThan(0)
  for (const example of examples)
    expect(readHookText(example, 'docs/hook-files.md')).toMatchObject({ kind: 'good' })
})

test('the page names every field and every format', () => {
  const fields = Object.keys(hookSchema.fields).filter(
    (field) => field !== 'disabled_reason' && field !== 'version',
  )
  expect([...fields, ...importFormats].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})
