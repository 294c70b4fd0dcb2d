import { describe, expect, test } from 'vitest'
import { block, createHooks, type Handler, type HookDefinition, HookError } from '../../index.ts'

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' } }

/** A handler type of one's own: blocks a list of words. */
const wordList: Handler<readonly string[]> = {
  type: 'word_list',
  read(config) {
    if (Array.isArray(config) && config.every((word) => typeof word === 'string')) return config
    throw new HookError('config.field', 'config must be a list of words', { at: 'config' })
  },
  run({ config, payload }) {
    const text = JSON.stringify(payload)
    const found = config.find((word) => text.includes(word))
    return found === undefined ? undefined : block(`contains ${found}`)
  },
}
const hook = (more: object = {}): HookDefinition => ({
  event: 'pre_tool_use',
  handler_type: 'word_list',
  config: ['rm'],
  ...more,
})
const withWords = () => createHooks({ handlers: [wordList as Handler] })
const refusal = (given: unknown) => {
  try {
    withWords().add(given as HookDefinition)
    return 'accepted'
  } catch (error) {
    return error
  }
}

describe('a hook that is data', () => {
  test('runs its handler with the config it read, and is undone like any other', async () => {
    const hooks = withWords()
    const undo = hooks.add(hook({ id: 'words', name: 'Words' }))
    const rm = { tool_name: 'Bash', tool_input: { command: 'rm x' } }
    expect((await hooks.dispatch('pre_tool_use', bash)).kind).toBe('allow')
    expect(await hooks.dispatch('pre_tool_use', rm)).toMatchObject({ kind: 'block', by: 'words' })
    undo()
    expect((await hooks.dispatch('pre_tool_use', rm)).kind).toBe('allow')
  })

  test('its handler gets the payload, the context, the host and the hook itself', async () => {
    const host = { notify: async () => ({ sent: true }) }
    const calls: unknown[] = []
    const spy: Handler = {
      type: 'spy',
      read: (config) => ({ wrapped: config }),
      run: ({ config, payload, context, host, hook }) =>
        void calls.push(config, payload, context.event, host, hook.id),
    }
    const hooks = createHooks({ handlers: [spy], host })
    hooks.add({ event: 'PreToolUse', handler_type: 'spy', id: 'h', config: 1 })
    await hooks.dispatch('pre_tool_use', bash)
    expect(calls).toEqual([{ wrapped: 1 }, bash, 'pre_tool_use', host, 'h'])
  })

  test('GC-32 a handler type nobody installed is refused, with the field', () => {
    expect(refusal(hook({ handler_type: 'script' }))).toMatchObject({
      code: 'config.unknown_handler',
      at: 'handler_type',
    })
  })

  test('a config its handler cannot read is refused, and nothing is registered', () => {
    const hooks = withWords()
    expect(() => hooks.add(hook({ config: 42 }))).toThrow(
      expect.objectContaining({ code: 'config.field', at: 'config' }),
    )
    expect(hooks.list()).toEqual([])
  })

  test('a handler that throws follows the policy', async () => {
    const angry: Handler = {
      type: 'angry',
      read: () => undefined,
      run() {
        throw new Error('boom')
      },
    }
    const hooks = createHooks({ handlers: [angry] })
    hooks.add({ event: 'pre_tool_use', handler_type: 'angry' })
    expect(await hooks.dispatch('pre_tool_use', bash)).toMatchObject({ code: 'handler.error' })
  })

  test('what list() shows is the definition, with its id and the canonical event', () => {
    const hooks = withWords()
    hooks.add(hook({ event: 'before_tool_call', priority: 3 }))
    expect(hooks.list()).toMatchObject([
      { id: expect.any(String), event: 'pre_tool_use', handler_type: 'word_list', priority: 3 },
    ])
    expect(Object.isFrozen(hooks.list()[0])).toBe(true)
  })

  test('a handler may be an object of a class', async () => {
    class Reasons {
      readonly type = 'reasons'
      readonly prefix = 'because '
      read(config: unknown): string {
        return this.prefix + String(config)
      }
      run({ config }: { config: string }) {
        return { kind: 'block', reason: config }
      }
    }
    const hooks = createHooks({ handlers: [new Reasons() as Handler] })
    hooks.add({ event: 'pre_tool_use', handler_type: 'reasons', config: 'of you' })
    expect(await hooks.dispatch('pre_tool_use', bash)).toMatchObject({ reason: 'because of you' })
  })

  test('changing the object afterwards changes nothing', async () => {
    const hooks = withWords()
    const given = { ...hook({ id: 'h' }), enabled: true }
    hooks.add(given)
    given.enabled = false
    expect(hooks.list()[0]?.enabled).toBe(true)
  })
})

describe('what is not a hook is refused with the field', () => {
  test.each<[string, unknown, string]>([
    ['an unknown field', { prioritty: 1 }, 'prioritty'],
    ['a wrong type', { name: 42 }, 'name'],
    ['a flag that is text', { enabled: 'true' }, 'enabled'],
    ['an unknown policy', { on_error: 'open' }, 'on_error'],
    ['an unknown scope', { scope: 'galaxy' }, 'scope'],
    ['an empty id', { id: '' }, 'id'],
    ['agents that are no texts', { agent_ids: [1] }, 'agent_ids.0'],
    ['scope agent without agents', { scope: 'agent' }, 'agent_ids'],
    ['a match of another kind', { match: { regex: 'x' } }, 'match.regex'],
    ['an unknown outcome', { match: { outcome: 'maybe' } }, 'match.outcome'],
    ['a field compared with an object', { match: { fields: { a: {} } } }, 'match.fields.a'],
    ['a budget without a limit', { budget: { name: 'x' } }, 'budget.limit'],
    ['null in place of a list', { agent_ids: null }, 'agent_ids'],
    ['__proto__ as a field', JSON.parse('{"__proto__":1}'), '__proto__'],
    ['no event', { event: undefined }, 'event'],
    ['no handler type', { handler_type: undefined }, 'handler_type'],
  ])('%s', (_, more, at) => {
    const definition = Object.defineProperties(hook(), Object.getOwnPropertyDescriptors(more as object))
    expect(refusal(definition)).toMatchObject({ code: 'config.field', at })
  })

  test('with the nearest name as a hint', () => {
    expect(refusal(hook({ prioritty: 1 }))).toMatchObject({
      hint: 'Did you mean priority?',
    })
  })

  test.each([undefined, null, 'hook', 42, []])('%o is no object at all', (given) => {
    expect(refusal(given)).toMatchObject({ code: 'config.field' })
  })

  test('an unknown event', () => {
    expect(refusal(hook({ event: 'pre_tol_use' }))).toMatchObject({ code: 'input.unknown_event' })
  })

  test.each<[string, unknown]>([
    ['timeout_ms', -1],
    ['timeout_ms', 0],
    ['timeout_ms', Number.NaN],
    ['timeout_ms', '5s'],
    ['timeout_ms', 600_001],
    ['timeout_ms', 1.5],
    ['priority', 'high'],
    ['priority', Number.POSITIVE_INFINITY],
    ['cooldown_ms', -1],
    ['dedup_window_ms', 86_400_001],
    ['max_invocations_per_turn', 0],
  ])('%s out of its range: %s', (at, value) => {
    expect(refusal(hook({ [at]: value }))).toMatchObject({ code: 'config.range', at })
  })

  test('two hooks of one id', () => {
    const hooks = withWords()
    hooks.add(hook({ id: 'h' }))
    expect(() => hooks.add(hook({ id: 'h' }))).toThrow(
      expect.objectContaining({ code: 'config.duplicate_id' }),
    )
  })

  test('a definition that cannot be read', () => {
    const angry = Object.defineProperty(hook(), 'name', {
      enumerable: true,
      get() {
        throw new Error('no')
      },
    })
    expect(refusal(angry)).toBeInstanceOf(HookError)
  })
})

describe('a function hook is checked the same way', () => {
  test.each<[string, unknown[]]>([
    ['no function', ['pre_tool_use']],
    ['options instead of a function', ['pre_tool_use', {}]],
    ['a text as options', ['pre_tool_use', 'high', () => {}]],
    ['null as options', ['pre_tool_use', null, () => {}]],
    ['an unknown option', ['pre_tool_use', { prio: 1 }, () => {}]],
    ['no function and no event', [Symbol('x')]],
  ])('%s', (_, given) => {
    const { on } = createHooks()
    expect(() => Reflect.apply(on, undefined, given)).toThrow(
      expect.objectContaining({ code: 'config.field' }),
    )
  })
})
