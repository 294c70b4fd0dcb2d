import { describe, expect, test } from 'vitest'
import { block, createHooks, type HookOptions } from '../../index.ts'
import { recorder } from '../../testing/index.ts'

const call = (tool_name: string, tool_input: Record<string, unknown> = {}) => ({ tool_name, tool_input })

async function fires(options: HookOptions, payload = call('Bash', { command: 'git push' }), envelope = {}) {
  const hooks = createHooks()
  let fired = false
  hooks.on('pre_tool_use', options, () => {
    fired = true
  })
  await hooks.dispatch('pre_tool_use', payload, envelope)
  return fired
}

describe('a hook fires for what it is about', () => {
  test.each<[HookOptions, boolean]>([
    [{}, true],
    [{ matcher: 'Ba' }, true],
    [{ matcher: '^Read$' }, false],
    [{ matcher: 'Bash(git push*)' }, true],
    [{ matcher: 'Bash(rm *)' }, false],
    [{ match: { glob: 'B*' } }, true],
    [{ match: { names: ['Read', 'Write'] } }, false],
    [{ match: { fields: { 'tool_input.command': 'git push' } } }, true],
    [{ if_expr: 'tool_input.command.startsWith("git")' }, true],
    [{ if_expr: 'depth > 2' }, false],
    [{ matcher: 'Bash', if_expr: 'false' }, false],
  ])('%o → %s', async (options, expected) => {
    expect(await fires(options)).toBe(expected)
  })

  test('agent_ids take ids and names', async () => {
    const options = { agent_ids: ['reviewer', 'b2'] }
    expect(await fires(options, call('x'), { agent: 'reviewer' })).toBe(true)
    expect(await fires(options, call('x'), { agentId: 'b2' })).toBe(true)
    expect(await fires(options, call('x'), { agent: 'writer' })).toBe(false)
    expect(await fires(options, call('x'))).toBe(false)
  })

  test('the name is whatever the event says it is', async () => {
    const hooks = createHooks()
    let fired = 0
    hooks.on('subagent_start', { matcher: '^review' }, () => void fired++)
    await hooks.dispatch('subagent_start', { agent_type: 'reviewer' })
    await hooks.dispatch('subagent_start', { agent_type: 'writer' })
    await hooks.dispatch('subagent_start', {})
    expect(fired).toBe(1)
  })

  test('thousands of different names do not confuse it', async () => {
    const hooks = createHooks()
    let fired = 0
    hooks.on('pre_tool_use', { matcher: '7$' }, () => void fired++)
    for (let i = 0; i < 3_000; i++) await hooks.dispatch('pre_tool_use', call(`tool-${i}`))
    expect(fired).toBe(300)
  })
})

describe('a condition that cannot be evaluated', () => {
  const broken = { id: 'h', if_expr: 'tool_input.missing == "x"' }

  test('on a gate the handler runs and decides', async () => {
    const seen = recorder()
    const hooks = createHooks({ log: seen.log })
    hooks.on('pre_tool_use', broken, () => block('looked'))
    expect(await hooks.dispatch('pre_tool_use', call('Bash'))).toMatchObject({
      kind: 'block',
      reason: 'looked',
    })
    expect(seen.lines).toMatchObject([
      { name: 'match.failed', fields: { hook: 'h', code: 'match.cel_eval' } },
    ])
  })

  test.each(['post_tool_use_failure', 'post_tool_use'] as const)(
    'on %s the hook is skipped, and that is recorded',
    async (event) => {
      const seen = recorder()
      const hooks = createHooks({ sink: seen.sink, log: seen.log })
      let ran = 0
      hooks.on(event, broken, () => void ran++)
      await hooks.dispatch(event, { ...call('Bash'), tool_response: '' } as never)
      await hooks.drain()
      expect(ran).toBe(0)
      expect(seen.dispatches[0]?.executions).toMatchObject([
        { hook: 'h', decision: 'skipped', code: 'match.cel_eval' },
      ])
    },
  )

  test('in the trace it says so', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', broken, () => {})
    const { trace } = await hooks.dispatch('pre_tool_use', call('Bash'), {}, { trace: true })
    expect(trace?.hooks).toMatchObject([{ hook: 'h', matched: 'failed' }])
    expect(trace?.hooks[0]?.because).toContain('if_expr')
    expect(trace?.hooks[0]?.executions).toHaveLength(1)
  })

  test('a guarded key is no failure', async () => {
    const if_expr = 'has(tool_input.missing) && tool_input.missing == "x"'
    expect(await fires({ if_expr })).toBe(false)
  })
})

describe('a condition that does not compile', () => {
  test.each<[HookOptions, string]>([
    [{ matcher: '(' }, 'match.syntax'],
    [{ matcher: '(?=x)' }, 'match.unsupported'],
    [{ if_expr: 'tool_input.' }, 'match.cel_syntax'],
    [{ if_expr: '1 + 1' }, 'match.cel_type'],
  ])('%o is refused where it is written, and nothing is registered', (options, code) => {
    const hooks = createHooks()
    expect(() => hooks.on('pre_tool_use', options, () => {})).toThrow(expect.objectContaining({ code }))
    expect(hooks.list()).toEqual([])
  })
})
