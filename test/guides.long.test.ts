import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readGuide } from './guides/read-guide.ts'
import { Scratch } from './guides/scratch.ts'

const contributing = readFileSync('CONTRIBUTING.md', 'utf8')
const titles = [...contributing.matchAll(/^## (Add .*)$/gm)].map(([, title = '']) => title)

describe('all guides of CONTRIBUTING.md together', () => {
  let scratch: Scratch
  beforeAll(() => {
    scratch = new Scratch()
    for (const [index, title] of titles.entries()) {
      const guide = readGuide(contributing, title)
      scratch.follow(guide)
      const program = guide.files.get('try.ts')
      if (program !== undefined) scratch.write(`try-${index}.ts`, program)
    }
  })
  afterAll(() => scratch[Symbol.dispose]())

  test('compile, and a wrong use of what they add is a type error', async () => {
    scratch.write(
      'wrong.ts',
      `import { createHooks } from 'hookhelm'
      import { createClient } from './src/client/client.ts'
      const hooks = createHooks()
      // @ts-expect-error: the branch is a text
      await hooks.dispatch('branch_merge', { branch: 1, into: 'main' })
      // @ts-expect-error: the cooldown is a number
      hooks.on('stop', { session_cooldown_ms: '1 m' }, () => {})
      // @ts-expect-error: there is no such scope
      await createClient({}).call('hooks.count', { scope: 'everybody' })`,
    )
    const errors = await Promise.all([scratch.typeErrors(['src', '*.ts']), scratch.typeErrorsOfUi()])
    expect(errors).toEqual(['', ''])
  })

  test('are in the generated docs and JSON Schema', async () => {
    await scratch.printed('scripts/docs.ts')
    const rows = (page: string) => scratch.read(page).split('\n')
    const { hooks } = JSON.parse(scratch.read('schema/hooks.schema.json')).properties
    const fields = JSON.stringify(hooks)
    expect(rows('docs/events.md')).toContainEqual(
      expect.stringMatching(/`branch_merge`.*Before a branch is merged/),
    )
    expect(fields).toContain('"branch_merge"')
    expect(rows('docs/hook-files.md')).toContainEqual(
      expect.stringMatching(/`session_cooldown_ms`.*86 400 000/),
    )
    expect(fields).toContain('"session_cooldown_ms"')
    expect(rows('docs/handlers/deny.md')).toContainEqual(
      expect.stringMatching(/`reason`.*required.*Why the call is blocked/),
    )
    expect(rows('docs/handlers/README.md')).toContainEqual(
      expect.stringMatching(/`deny`.*Blocks with a fixed reason/),
    )
    expect(fields).toContain('"Why the call is blocked."')
    expect(rows('docs/cli.md')).toContainEqual(expect.stringMatching(/hookhelm hooks .*history\\\|count`/))
    expect(rows('docs/cli.md')).toContainEqual(
      expect.stringMatching(/`hookhelm describe <event>`.*Describe an event/),
    )
    expect(rows('docs/agents.md')).toContainEqual(expect.stringMatching(/Acme CLI \(`acme-cli`\).*blocked/))
    expect(rows('docs/agents.md')).toContain('### Acme CLI')
  })
})
