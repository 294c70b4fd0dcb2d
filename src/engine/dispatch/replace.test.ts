import { describe, expect, test } from 'vitest'
import { block, createHooks, type Handler } from '../../index.ts'

const says: Handler<string> = {
  type: 'says',
  read: (config) => String(config),
  run: ({ config }) => (config === 'no' ? block('no') : undefined),
}
const call = { tool_name: 'Bash', tool_input: {} }
const hook = (id: string, config: string) => ({ id, event: 'pre_tool_use', handler_type: 'says', config })

describe('a group of hooks is replaced as a whole', () => {
  test('the old ones go and the new ones come in one step', async () => {
    const hooks = createHooks({ handlers: [says] })
    hooks.replace('file', [hook('a', 'no'), hook('b', 'yes')])
    expect((await hooks.dispatch('pre_tool_use', call)).by).toBe('a')
    hooks.replace('file', [hook('b', 'no')])
    expect((await hooks.dispatch('pre_tool_use', call)).by).toBe('b')
    expect(hooks.list().map(({ id }) => id)).toEqual(['b'])
  })

  test.each([
    ['a broken definition', [hook('b', 'yes'), { ...hook('c', 'yes'), matcher: '(' }], 'match.syntax'],
    ['the same id twice', [hook('b', 'yes'), hook('b', 'yes')], 'config.duplicate_id'],
    ['an id of another group', [hook('other', 'yes')], 'config.duplicate_id'],
    ['an unknown handler', [{ ...hook('b', 'yes'), handler_type: 'sings' }], 'config.unknown_handler'],
  ])('%s changes nothing', async (_, definitions, code) => {
    const hooks = createHooks({ handlers: [says] })
    hooks.replace('elsewhere', [hook('other', 'yes')])
    hooks.replace('file', [hook('a', 'no')])
    expect(() => hooks.replace('file', definitions)).toThrow(expect.objectContaining({ code }))
    expect((await hooks.dispatch('pre_tool_use', call)).by).toBe('a')
  })

  test('a dispatch under way keeps the hooks it started with', async () => {
    const hooks = createHooks({ handlers: [says] })
    hooks.on('pre_tool_use', { priority: 1 }, async () => hooks.replace('file', []))
    hooks.replace('file', [hook('a', 'no')])
    expect((await hooks.dispatch('pre_tool_use', call)).by).toBe('a')
    expect((await hooks.dispatch('pre_tool_use', call)).kind).toBe('allow')
  })
})
