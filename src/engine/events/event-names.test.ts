import { describe, expect, test } from 'vitest'
import { check, createHooks, defineEvent } from '../../index.ts'
import { catalogue } from './catalogue.ts'
import { createNameResolver } from './event-names.ts'

const resolve = createNameResolver(catalogue)

describe('one moment has one name, however it is spelled', () => {
  test.each([
    ['PreToolUse', 'pre_tool_use'],
    ['PRE_TOOL_USE', 'pre_tool_use'],
    ['pre-tool-use', 'pre_tool_use'],
    ['before_tool_call', 'pre_tool_use'],
    ['BeforeTool', 'pre_tool_use'],
    ['tool.execute.before', 'pre_tool_use'],
    ['on_tool_call', 'pre_tool_use'],
    ['after_tool_call', 'post_tool_use'],
    ['tool.execute.after', 'post_tool_use'],
    ['UserPromptSubmit', 'user_prompt_submit'],
    ['beforeSubmitPrompt', 'user_prompt_submit'],
    ['Stop', 'stop'],
    ['before_agent_finalize', 'stop'],
    ['session.idle', 'stop'],
    ['SessionStart', 'session_start'],
    ['before_compaction', 'pre_compact'],
    ['on_run_start', 'run_start'],
    ['on_run_finish', 'run_finish'],
    ['subagent_spawning', 'subagent_start'],
    ['permission.ask', 'permission_request'],
  ])('%s is %s', (alias, name) => {
    expect(resolve(alias)).toBe(name)
  })

  test('every event is found by its own name and each of its aliases', () => {
    for (const [name, row] of Object.entries(catalogue))
      for (const alias of [name, ...row.aliases]) expect(resolve(alias)).toBe(name)
  })

  test('a hook registered under one name hears a dispatch under another', async () => {
    const hooks = createHooks()
    let heard = ''
    hooks.on('PreToolUse' as 'pre_tool_use', (_, context) => {
      heard = context.event
    })
    await hooks.dispatch('tool.execute.before' as 'pre_tool_use', { tool_name: 'x', tool_input: {} })
    expect(heard).toBe('pre_tool_use')
    expect(hooks.list()[0]?.event).toBe('pre_tool_use')
    expect(hooks.has('before_tool_call' as 'pre_tool_use')).toBe(true)
  })
})

describe('an unknown name is an error where it is written', () => {
  test('when a hook is registered, with the nearest name', () => {
    expect(() => createHooks().on('pre_tol_use' as 'pre_tool_use', () => {})).toThrow(
      expect.objectContaining({ code: 'input.unknown_event', hint: 'did you mean pre_tool_use?' }),
    )
  })

  test('when it is dispatched, as a rejection', async () => {
    await expect(createHooks().dispatch('sotp' as 'stop', {})).rejects.toMatchObject({
      code: 'input.unknown_event',
      hint: 'did you mean stop?',
    })
  })

  test('a name like nothing we know has no guess', () => {
    expect(() => resolve('quux_banana_republic')).toThrow(
      expect.objectContaining({
        code: 'input.unknown_event',
        hint: expect.not.stringContaining('did you mean'),
      }),
    )
  })

  test('a very long name is not repeated in full', () => {
    const long = 'x'.repeat(100_000)
    expect(() => resolve(long)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('x'.repeat(200)) }),
    )
  })

  test.each<[string, unknown]>([
    ['a number', 42],
    ['undefined', undefined],
    ['null', null],
    ['a symbol', Symbol('stop')],
    ['an object', {}],
    ['an object without a prototype', Object.create(null)],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['an empty text', ''],
  ])('%s is no name', async (_, name) => {
    await expect(createHooks().dispatch(name as 'stop', {})).rejects.toMatchObject({
      code: 'input.unknown_event',
    })
  })
})

describe('events of one’s own', () => {
  const row = (aliases: string[] = []) =>
    defineEvent({ about: 'x', mode: 'observe', payload: check.record, aliases })

  test('cannot replace an event of the catalogue', () => {
    expect(() => createHooks({ events: { pre_tool_use: row() } })).toThrow(
      expect.objectContaining({ code: 'config.event', at: 'pre_tool_use' }),
    )
  })

  test.each([{ PreToolUse: row() }, { before_tool_call: row() }, { deploy: row(['Stop']) }])(
    'cannot take the name another one has: %#',
    (events) => {
      expect(() => createHooks({ events })).toThrow(expect.objectContaining({ code: 'config.event' }))
    },
  )

  test('have aliases too', async () => {
    const hooks = createHooks({ events: { deploy: row(['release.shipped']) } })
    let heard = 0
    hooks.on('deploy', () => void heard++)
    await hooks.dispatch('ReleaseShipped' as 'deploy', {})
    expect(heard).toBe(1)
  })

  test('must be rows', () => {
    expect(() => createHooks({ events: { deploy: { mode: 'gate' } as never } })).toThrow(
      expect.objectContaining({ code: 'config.event' }),
    )
  })
})
