import { describe, expect, test } from 'vitest'
import { prepareConfig } from '../../../test/handlers/handlers.fixture.ts'
import type { HookDefinition } from '../../index.ts'

const hook = { event: 'pre_tool_use', handler_type: 'prompt', matcher: 'Bash' }
const refused = (code: string, at: string) => expect.objectContaining({ code, at })

describe('GC-14 a prompt hook', () => {
  test.each([
    { matcher: 'Bash' },
    { matcher: undefined, if_expr: 'true' },
    { matcher: '', match: { names: ['x'] } },
  ])('is narrowed by %j', (part) => {
    const config = { prompt_template: 'Judge.', model: 'haiku' }
    expect(prepareConfig({ ...hook, ...part, config } as HookDefinition)).toMatchObject({
      template: 'Judge.',
      model: 'haiku',
      perTurn: 5,
    })
  })

  test.each([{}, { matcher: '' }, { matcher: ' ', if_expr: '' }, { match: {} }])(
    'that is not narrowed (%j) is refused',
    (part) => {
      const { matcher: _, ...bare } = hook
      expect(() => prepareConfig({ ...bare, ...part, config: { prompt_template: 'x' } })).toThrow(
        refused('config.prompt_needs_matcher', 'matcher'),
      )
    },
  )

  test.each([
    [undefined, 'config.field', 'config.prompt_template'],
    [{}, 'config.field', 'config.prompt_template'],
    [{ prompt_template: '  ' }, 'config.field', 'config.prompt_template'],
    [{ prompt_template: 'x'.repeat(32_769) }, 'config.range', 'config.prompt_template'],
    [{ prompt_template: 'x', model: 5 }, 'config.field', 'config.model'],
    [{ prompt_template: 'x', format: 'yaml' }, 'config.field', 'config.format'],
    [
      { prompt_template: 'x', max_invocations_per_turn: '5' },
      'config.range',
      'config.max_invocations_per_turn',
    ],
    [
      { prompt_template: 'x', max_invocations_per_turn: -1 },
      'config.range',
      'config.max_invocations_per_turn',
    ],
    [{ format: 'openharness', prompt: 'x', can_block: 'no' }, 'config.field', 'config.can_block'],
  ])('with config %j is refused', (config, code, at) => {
    expect(() => prepareConfig({ ...hook, config })).toThrow(refused(code, at))
  })

  test('of the OpenHarness form needs no matcher', () => {
    const config = { format: 'openharness', prompt: 'Is this safe?' }
    expect(prepareConfig({ event: 'pre_tool_use', handler_type: 'prompt', config })).toMatchObject({
      prompt: 'Is this safe?',
      canBlock: true,
    })
  })

  test('GC-65 takes nought for the usual number', () => {
    const config = { prompt_template: 'x', max_invocations_per_turn: 0 }
    expect(prepareConfig({ ...hook, config })).toMatchObject({ perTurn: 5 })
  })
})
