import { describe, expect, test } from 'vitest'
import { block, createHooks } from '../../index.ts'

const bash = { tool_name: 'Bash', tool_input: {} }

describe('on() returns its undo', () => {
  test('the hook hears events until it is undone, and undoing twice is harmless', async () => {
    const hooks = createHooks()
    let heard = 0
    const undo = hooks.on('pre_tool_use', () => void heard++)
    await hooks.dispatch('pre_tool_use', bash)
    undo()
    undo()
    await hooks.dispatch('pre_tool_use', bash)
    expect(heard).toBe(1)
    expect(hooks.has('pre_tool_use')).toBe(false)
  })

  test('an old undo does not take away a newer hook of the same id', async () => {
    const hooks = createHooks()
    const undo = hooks.on('pre_tool_use', { id: 'h' }, () => {})
    undo()
    hooks.on('pre_tool_use', { id: 'h' }, () => block('new'))
    undo()
    expect((await hooks.dispatch('pre_tool_use', bash)).kind).toBe('block')
  })

  test('not even one that runs the same function', () => {
    const hooks = createHooks()
    const same = () => {}
    const undo = hooks.on('pre_tool_use', { id: 'h' }, same)
    undo()
    hooks.on('pre_tool_use', { id: 'h' }, same)
    undo()
    expect(hooks.has('pre_tool_use')).toBe(true)
  })

  test('a hook that was switched off and on is still undone by its undo', () => {
    const hooks = createHooks()
    const undo = hooks.on('pre_tool_use', { id: 'h' }, () => {})
    hooks.toggle('h', false)
    hooks.toggle('h', true)
    undo()
    expect(hooks.list()).toEqual([])
  })

  test('one function may listen twice, and each undo takes away its own', async () => {
    const hooks = createHooks()
    let heard = 0
    const listen = () => void heard++
    const undo = hooks.on('pre_tool_use', listen)
    hooks.on('pre_tool_use', listen)
    undo()
    await hooks.dispatch('pre_tool_use', bash)
    expect(heard).toBe(1)
  })
})

describe('a dispatch under way keeps the hooks it began with', () => {
  test('a hook registered by a hook hears the next event, not this one', async () => {
    const hooks = createHooks()
    const heard: string[] = []
    hooks.on('pre_tool_use', { id: 'first' }, async () => {
      heard.push('first')
      if (heard.length === 1) hooks.on('pre_tool_use', { id: 'second' }, () => void heard.push('second'))
    })
    await hooks.dispatch('pre_tool_use', bash)
    expect(heard).toEqual(['first'])
    await hooks.dispatch('pre_tool_use', bash)
    expect(heard).toEqual(['first', 'first', 'second'])
  })

  test('a hook that undoes itself or the one behind it disturbs nobody', async () => {
    const hooks = createHooks()
    const heard: string[] = []
    const undone: (() => void)[] = []
    hooks.on('pre_tool_use', () => {
      heard.push('a')
      for (const undo of undone) undo()
    })
    undone.push(hooks.on('pre_tool_use', async () => void heard.push('b')))
    undone.push(hooks.on('pre_tool_use', () => void heard.push('c')))
    await hooks.dispatch('pre_tool_use', bash)
    expect(heard).toEqual(['a', 'b', 'c'])
    await hooks.dispatch('pre_tool_use', bash)
    expect(heard).toEqual(['a', 'b', 'c', 'a'])
  })

  test('switching a hook off while it is awaited does not take its answer away', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'h' }, async () => {
      hooks.toggle('h', false)
      return block('mine')
    })
    expect((await hooks.dispatch('pre_tool_use', bash)).kind).toBe('block')
    expect((await hooks.dispatch('pre_tool_use', bash)).kind).toBe('allow')
  })
})

describe('order', () => {
  test('locked hooks first, then priority, then creation', async () => {
    const hooks = createHooks()
    const order: string[] = []
    const add = (id: string, options = {}) =>
      hooks.on('pre_tool_use', { id, ...options }, () => void order.push(id))
    add('plain')
    add('low', { priority: -1 })
    add('high', { priority: 10 })
    add('locked', { locked: true, priority: -5 })
    add('plain too')
    add('locked high', { locked: true, priority: 5 })
    await hooks.dispatch('pre_tool_use', bash)
    expect(order).toEqual(['locked high', 'locked', 'high', 'plain', 'plain too', 'low'])
    expect(hooks.list('pre_tool_use').map((hook) => hook.id)).toEqual(order)
  })

  test('a scope gives no precedence', async () => {
    const hooks = createHooks()
    const order: string[] = []
    for (const scope of ['agent', 'tenant', 'global'] as const)
      hooks.on('pre_tool_use', { scope, agent_ids: ['a'] }, () => void order.push(scope))
    await hooks.dispatch('pre_tool_use', bash, { agent: 'a' })
    expect(order).toEqual(['agent', 'tenant', 'global'])
  })

  test('a hook that was switched off and on keeps its place', async () => {
    const hooks = createHooks()
    const order: string[] = []
    for (const id of ['a', 'b', 'c']) hooks.on('pre_tool_use', { id }, () => void order.push(id))
    hooks.toggle('a', false)
    hooks.toggle('a', true)
    await hooks.dispatch('pre_tool_use', bash)
    expect(order).toEqual(['a', 'b', 'c'])
  })
})

describe('ids', () => {
  test('two hooks cannot share one', () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'h' }, () => {})
    expect(() => hooks.on('stop', { id: 'h' }, () => {})).toThrow(
      expect.objectContaining({ code: 'config.duplicate_id' }),
    )
  })

  test('without one a hook gets a fresh one, whatever ids others chose', () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'pre_tool_use#2' }, () => {})
    hooks.on('pre_tool_use', () => {})
    hooks.on('pre_tool_use', { name: 'pre_tool_use' }, () => {})
    expect(new Set(hooks.list().map((hook) => hook.id)).size).toBe(3)
  })
})

test('a hook that is switched off does not run', async () => {
  const hooks = createHooks()
  hooks.on('pre_tool_use', { enabled: false }, () => block('off'))
  expect((await hooks.dispatch('pre_tool_use', bash)).kind).toBe('allow')
  expect(hooks.list()).toMatchObject([{ enabled: false }])
})

test('two sets of hooks know nothing of one another', async () => {
  const one = createHooks()
  one.on('pre_tool_use', { id: 'h' }, () => block('one'))
  const two = createHooks()
  two.on('pre_tool_use', { id: 'h' }, () => {})
  expect((await two.dispatch('pre_tool_use', bash)).kind).toBe('allow')
})
