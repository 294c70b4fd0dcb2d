import { describe, expect, test } from 'vitest'
import { createHooks } from '../../../src/index.ts'

const block = () => ({ kind: 'block' as const, reason: 'no' })

async function asked(conditions: object, payload: object): Promise<string> {
  const hooks = createHooks()
  hooks.on('pre_tool_use', conditions, block)
  const { kind } = await hooks.dispatch('pre_tool_use', payload as never)
  return kind
}

const call = { tool_name: 'Bash', tool_input: { command: 'git push' } }
const conditions = [
  { matcher: 'Bash' },
  { matcher: '^Bash$' },
  { matcher: 'Bash(git push*)' },
  { match: { names: ['Bash'] } },
  { match: { glob: 'Ba*' } },
  { match: { fields: { tool_name: 'Bash' } } },
  { if_expr: 'tool_name == "Bash"' },
]

describe('no other name of a tool hides the one that hooks know', () => {
  const odd: readonly unknown[] = [
    ...[7, null, {}, [], [[]], [null, 7, {}], '', ['', ''], '\0', ['\0\0'], 'x'.repeat(200_000)],
    ...[Array(10_000).fill('x'), ['run_shell_command'], '__proto__', '\ud800', 'Bash'],
  ]
  test.each(conditions)('%j', async (condition) => {
    for (const native_tool_name of odd)
      expect(await asked(condition, { ...call, native_tool_name })).toBe('block')
  })

  test('and each of them counts as well', async () => {
    for (const native_tool_name of ['shell', ['x', 'shell'], ['\0', 'shell'], ['shell', 'shell', 7]])
      expect(await asked({ matcher: '^shell$' }, { ...call, native_tool_name })).toBe('block')
    expect(await asked({ matcher: '^shell$' }, { ...call, native_tool_name: 'shells' })).toBe('allow')
  })
})

test.each(['Bash\0', '\0Bash', 'a\0Bash\0b'])(
  'a name that holds others is all of them: %j',
  async (tool_name) => {
    expect(await asked({ matcher: '^Bash$' }, { ...call, tool_name })).toBe('block')
  },
)

test('a rewrite is asked about under every name again', async () => {
  const hooks = createHooks()
  const seen: unknown[] = []
  hooks.on('pre_tool_use', { matcher: '^shell$', locked: true }, ({ tool_input }) => {
    seen.push(tool_input.command)
    return tool_input.command === 'rm' ? block() : undefined
  })
  hooks.on('pre_tool_use', { matcher: '^Bash$' }, () => ({ kind: 'allow', input: { command: 'rm' } }))
  const payload = { ...call, native_tool_name: ['x', 'shell'] }
  expect(await hooks.dispatch('pre_tool_use', payload)).toMatchObject({ kind: 'block' })
  expect(seen).toEqual(['git push', 'rm'])
})
