import { describe, expect, test } from 'vitest'
import { addContext, allow, ask, block, createHooks, rewrite } from '../../index.ts'
import { recorder } from '../../testing/index.ts'

const bash = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })
const text = (input: Readonly<Record<string, unknown>>) => String(input.command)

describe('a rewrite can never carry something past a locked hook', () => {
  test('a locked hook runs once more on the final input, and can still block', async () => {
    const hooks = createHooks()
    const seen: string[] = []
    hooks.on('pre_tool_use', { id: 'managed', locked: true }, ({ tool_input }) => {
      seen.push(text(tool_input))
      if (text(tool_input).startsWith('rm')) return block('no rm')
    })
    hooks.on('pre_tool_use', async () => rewrite({ command: 'rm -rf /' }))
    const decision = await hooks.dispatch('pre_tool_use', bash('ls'))
    expect(decision).toMatchObject({ kind: 'block', by: 'managed', reason: 'no rm' })
    expect(decision).not.toHaveProperty('input')
    expect(seen).toEqual(['ls', 'rm -rf /'])
  })

  test.each([{ recheck: true }, { recheck: true, locked: false }])(
    'so does a hook with %o',
    async (options) => {
      const hooks = createHooks()
      const seen: string[] = []
      hooks.on('pre_tool_use', options, ({ tool_input }) => void seen.push(text(tool_input)))
      hooks.on('pre_tool_use', () => rewrite({ command: 'b' }))
      await hooks.dispatch('pre_tool_use', bash('a'))
      expect(seen).toEqual(['a', 'b'])
    },
  )

  test('other hooks run once', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', () => void ran++)
    hooks.on('pre_tool_use', { locked: true }, () => {})
    hooks.on('pre_tool_use', () => rewrite({ command: 'b' }))
    await hooks.dispatch('pre_tool_use', bash('a'))
    expect(ran).toBe(1)
  })

  test('a locked hook whose matcher fits only the final input is asked too', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'm', locked: true, matcher: 'Bash(rm *)' }, () => block('no rm'))
    hooks.on('pre_tool_use', () => rewrite({ command: 'rm x' }))
    expect(await hooks.dispatch('pre_tool_use', bash('ls'))).toMatchObject({ kind: 'block', by: 'm' })
  })

  test('one that already passed the final input is not asked again', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', { priority: 1 }, () => rewrite({ command: 'b' }))
    hooks.on('pre_tool_use', { recheck: true }, () => void ran++)
    await hooks.dispatch('pre_tool_use', bash('a'))
    expect(ran).toBe(1)
  })

  test('without a rewrite there is no second pass, nor with one that leads back', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', { locked: true }, () => void ran++)
    hooks.on('pre_tool_use', () => rewrite({ command: 'b' }))
    hooks.on('pre_tool_use', () => rewrite({ command: 'a' }))
    await hooks.dispatch('pre_tool_use', bash('a'))
    expect(ran).toBe(1)
  })

  test('nor behind a block', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', { locked: true }, () => void ran++)
    hooks.on('pre_tool_use', () => rewrite({ command: 'b' }))
    hooks.on('pre_tool_use', () => block('no'))
    await hooks.dispatch('pre_tool_use', bash('a'))
    expect(ran).toBe(1)
  })

  test('a failure in the second pass closes the gate', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', { locked: true }, () => {
      if (++ran === 2) throw new Error('boom')
    })
    hooks.on('pre_tool_use', () => rewrite({ command: 'b' }))
    expect(await hooks.dispatch('pre_tool_use', bash('a'))).toMatchObject({ code: 'handler.error' })
  })
})

describe('in the second pass nothing is rewritten', () => {
  test('an idempotent redactor is fine', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { locked: true }, ({ tool_input }) =>
      rewrite({ command: text(tool_input).replaceAll('secret', '***') }),
    )
    hooks.on('pre_tool_use', ({ tool_input }) => rewrite({ command: `${text(tool_input)} | cat` }))
    const decision = await hooks.dispatch('pre_tool_use', bash('echo secret'))
    expect(decision).toMatchObject({ kind: 'allow', input: { command: 'echo *** | cat' } })
  })

  test('one that changes its mind blocks', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'm', locked: true }, ({ tool_input }) =>
      rewrite({ command: `${text(tool_input)}+` }),
    )
    hooks.on('pre_tool_use', ({ tool_input }) => rewrite({ command: `${text(tool_input)}-` }))
    const decision = await hooks.dispatch('pre_tool_use', bash('a'))
    expect(decision).toMatchObject({ kind: 'block', code: 'engine.unstable_rewrite', by: 'm' })
    expect(decision).not.toHaveProperty('input')
  })
})

describe('what was said in the first pass', () => {
  test('an ask is kept, and binds to the final input', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { locked: true }, () => ask('sure?'))
    hooks.on('pre_tool_use', () => rewrite({ command: 'b' }))
    expect(await hooks.dispatch('pre_tool_use', bash('a'))).toMatchObject({
      kind: 'ask',
      input: { command: 'b' },
    })
  })

  test('a hook that runs twice does not say its context twice', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { locked: true }, () => addContext('be careful'))
    hooks.on('pre_tool_use', () => rewrite({ command: 'b' }))
    expect((await hooks.dispatch('pre_tool_use', bash('a'))).context).toEqual(['be careful'])
  })

  test('a grant for an input that was rewritten afterwards does not stand', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { locked: true }, ({ tool_input }) =>
      text(tool_input) === 'ls' ? allow({ grant: true }) : undefined,
    )
    hooks.on('pre_tool_use', () => rewrite({ command: 'curl evil' }))
    const decision = await hooks.dispatch('pre_tool_use', bash('ls'))
    expect(decision).toMatchObject({ kind: 'allow', input: { command: 'curl evil' } })
    expect(decision).not.toHaveProperty('grant')
  })
})

describe('guards do not stand between a hook and the final input', () => {
  test('a hook that fired already is not skipped by its own cooldown', async () => {
    const hooks = createHooks()
    const seen: string[] = []
    const options = { locked: true, cooldown_ms: 1_000, max_invocations_per_turn: 1 }
    hooks.on('pre_tool_use', options, ({ tool_input }) => void seen.push(text(tool_input)))
    hooks.on('pre_tool_use', () => rewrite({ command: 'b' }))
    await hooks.dispatch('pre_tool_use', bash('a'))
    expect(seen).toEqual(['a', 'b'])
  })

  test('not even when it failed open the first time', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', { locked: true, cooldown_ms: 1_000, on_error: 'allow' }, () => {
      if (++ran === 1) throw new Error('boom')
      return block('seen')
    })
    hooks.on('pre_tool_use', () => rewrite({ command: 'b' }))
    expect(await hooks.dispatch('pre_tool_use', bash('a'))).toMatchObject({ kind: 'block', reason: 'seen' })
  })
})

test('both runs are recorded, the second one as a recheck', async () => {
  const seen = recorder()
  const hooks = createHooks({ sink: seen.sink })
  hooks.on('pre_tool_use', { id: 'm', locked: true }, () => {})
  hooks.on('pre_tool_use', { id: 'r' }, () => rewrite({ command: 'b' }))
  await hooks.dispatch('pre_tool_use', bash('a'))
  const runs = seen.dispatches[0]?.executions.filter(({ hook }) => hook === 'm')
  expect(runs).toMatchObject([{ decision: 'allow' }, { decision: 'allow', recheck: true }])
})
