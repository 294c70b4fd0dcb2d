import { describe, expect, test } from 'vitest'
import { allow, ask, block, createHooks, type HookOptions, rewrite } from '../../index.ts'

type Input = Readonly<Record<string, unknown>>
const bash = (command: string) => ({ tool_name: 'Bash', tool_input: { command } })

describe('rewrites chain', () => {
  test('the next hook sees the rewritten input; original, current and every step are kept', async () => {
    const hooks = createHooks()
    const seen: Input[] = []
    hooks.on('pre_tool_use', { id: 'a' }, ({ tool_input }) => {
      seen.push(tool_input)
      return rewrite({ command: 'two' })
    })
    hooks.on('pre_tool_use', { id: 'b' }, async ({ tool_input }, { original }) => {
      seen.push(tool_input, original as Input)
      return rewrite({ command: 'three' })
    })
    expect(await hooks.dispatch('pre_tool_use', bash('one'))).toEqual({
      kind: 'allow',
      original: { command: 'one' },
      input: { command: 'three' },
      steps: [
        { hook: 'a', before: { command: 'one' }, after: { command: 'two' } },
        { hook: 'b', before: { command: 'two' }, after: { command: 'three' } },
      ],
    })
    expect(seen).toEqual([{ command: 'one' }, { command: 'two' }, bash('one')])
  })

  test('a patch replaces the whole input', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => rewrite({ other: 1 }))
    expect((await hooks.dispatch('pre_tool_use', bash('x'))).input).toEqual({ other: 1 })
  })

  test('a prompt is rewritten as text', async () => {
    const hooks = createHooks()
    hooks.on('user_prompt_submit', ({ prompt }) => rewrite(prompt.toUpperCase()))
    hooks.on('user_prompt_submit', ({ prompt }) => rewrite(`${prompt}!`))
    const decision = await hooks.dispatch('user_prompt_submit', { prompt: 'hi' })
    expect(decision).toMatchObject({ input: 'HI!', original: 'hi' })
  })

  test('an ask carries the rewritten input, a block none', async () => {
    const asking = createHooks()
    asking.on('pre_tool_use', () => ({ kind: 'ask', reason: 'sure?', input: { command: 'b' } }))
    expect(await asking.dispatch('pre_tool_use', bash('a'))).toMatchObject({
      kind: 'ask',
      input: { command: 'b' },
    })
    const blocking = createHooks()
    blocking.on('pre_tool_use', () => rewrite({ command: 'b' }))
    blocking.on('pre_tool_use', () => block('no'))
    const decision = await blocking.dispatch('pre_tool_use', bash('a'))
    expect(decision).toMatchObject({ kind: 'block', reason: 'no' })
    expect(decision).not.toHaveProperty('input')
  })

  test('a rewrite after an ask keeps the ask', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => ask('sure?'))
    hooks.on('pre_tool_use', () => rewrite({ command: 'b' }))
    expect(await hooks.dispatch('pre_tool_use', bash('a'))).toMatchObject({
      kind: 'ask',
      input: { command: 'b' },
    })
  })
})

describe('what changes nothing', () => {
  test.each<[string, unknown]>([
    ['{}', {}],
    ['null', null],
    ['undefined', undefined],
    ['the same input again', { command: 'one' }],
  ])('%s', async (_, patch) => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => ({ kind: 'allow', input: patch }) as never)
    expect(await hooks.dispatch('pre_tool_use', bash('one'))).toEqual({ kind: 'allow' })
  })
})

describe('a rewrite is checked again', () => {
  test.each<[string, unknown]>([
    ['text', 'rm -rf /'],
    ['a list', ['a']],
    ['a number', 42],
    ['something nested too deep', nested(300)],
  ])('%s is no input: the gate closes', async (_, patch) => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'h' }, () => rewrite(patch as Input))
    const decision = await hooks.dispatch('pre_tool_use', bash('one'))
    expect(decision).toMatchObject({ kind: 'block', code: 'handler.result', by: 'h' })
  })

  test('with on_invalid: allow the input stays as it was', async () => {
    const hooks = createHooks()
    const seen: Input[] = []
    hooks.on('pre_tool_use', { id: 'h', on_invalid: 'allow' }, () => rewrite('bad' as never))
    hooks.on('pre_tool_use', ({ tool_input }) => void seen.push(tool_input))
    expect(await hooks.dispatch('pre_tool_use', bash('one'))).toEqual({
      kind: 'allow',
      opened: [{ hook: 'h', because: 'invalid', code: 'handler.result' }],
    })
    expect(seen).toEqual([{ command: 'one' }])
  })

  test('a block cannot carry a patch, and an event without an input takes none', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => ({ kind: 'block', reason: 'x', input: { a: 1 } }) as never)
    expect(await hooks.dispatch('pre_tool_use', bash('x'))).toMatchObject({ code: 'handler.result' })
    hooks.on('stop', { on_invalid: 'block' }, () => rewrite({ a: 1 }) as never)
    expect(await hooks.dispatch('stop', {})).toMatchObject({ code: 'handler.result' })
  })
})

describe('nobody can change what was decided', () => {
  test('patch, original and steps are frozen all the way down', async () => {
    const hooks = createHooks()
    const patch = { list: [{ a: 1 }] }
    hooks.on('pre_tool_use', () => rewrite(patch))
    const decision = await hooks.dispatch('pre_tool_use', bash('one'))
    expect(decision.input).toEqual({ list: [{ a: 1 }] })
    const list = decision.input?.list as object[]
    for (const part of [decision.input, decision.original, list, list[0]])
      expect(Object.isFrozen(part)).toBe(true)
    for (const step of decision.steps ?? []) expect(Object.isFrozen(step.after)).toBe(true)
  })

  test('the tool name cannot be rewritten, whatever the patch is called', async () => {
    const hooks = createHooks()
    const names: string[] = []
    hooks.on('pre_tool_use', () => rewrite({ tool_name: 'Read', command: 'b' }))
    hooks.on('pre_tool_use', ({ tool_name }) => void names.push(tool_name))
    await hooks.dispatch('pre_tool_use', bash('a'))
    expect(names).toEqual(['Bash'])
    hooks.on('pre_tool_use', () => ({ ...allow(), tool_name: 'Read' }) as never)
    expect(await hooks.dispatch('pre_tool_use', bash('a'))).toMatchObject({ code: 'handler.result' })
  })
})

describe('matchers of later hooks look at the current input', () => {
  test.each<[string, HookOptions]>([
    ['if_expr', { if_expr: 'tool_input.command == "rm x"' }],
    ['Tool(pattern)', { matcher: 'Bash(rm *)' }],
    ['match.fields', { match: { fields: { 'tool_input.command': 'rm x' } } }],
  ])('%s', async (_, options) => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { priority: 1 }, () => rewrite({ command: 'rm x' }))
    hooks.on('pre_tool_use', { id: 'guard', ...options }, () => block('rm'))
    expect(await hooks.dispatch('pre_tool_use', bash('ls'))).toMatchObject({ kind: 'block', by: 'guard' })
    const away = createHooks()
    away.on('pre_tool_use', { priority: 1 }, () => rewrite({ command: 'ls' }))
    away.on('pre_tool_use', { id: 'guard', ...options }, () => block('rm'))
    expect((await away.dispatch('pre_tool_use', bash('rm x'))).kind).toBe('allow')
  })
})

function nested(levels: number): object {
  let value = {}
  for (let i = 0; i < levels; i++) value = { inner: value }
  return value
}
