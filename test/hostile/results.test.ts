import { describe, expect, test } from 'vitest'
import { createHooks, rewrite } from '../../src/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { watchUnhandled } from '../engine/unhandled.fixture.ts'

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const unhandled = watchUnhandled()

const refuse = (): never => {
  throw new Error('no')
}
const getter = (key: string) => Object.defineProperty({}, key, { get: refuse, enumerable: true })
const inherited = Object.create({ kind: 'allow', grant: true })

const unreadable: [string, unknown][] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['a text', 'block'],
  ['a number', 0],
  ['a list', [{ kind: 'allow' }]],
  ['a function', () => ({ kind: 'allow' })],
  ['a symbol', Symbol('allow')],
  ['{}', {}],
  ['an unknown kind', { kind: 'deny' }],
  ['a kind in capitals', { kind: 'BLOCK', reason: 'x' }],
  ['no kind', { reason: 'x' }],
  ['a kind that is only inherited', inherited],
  ['a decision of another harness', { decision: 'block', reason: 'x' }],
  ['an unknown key', { kind: 'allow', permissionDecision: 'deny' }],
  ['a block without a reason', { kind: 'block' }],
  ['an ask without a reason', { kind: 'ask', reason: '' }],
  ['a reason that is no text', { kind: 'block', reason: { text: 'x' } }],
  ['a message that is no text', { kind: 'block', reason: 'x', message: 42 }],
  ['context that is no text', { kind: 'allow', context: [1] }],
  ['__proto__ as a key', JSON.parse('{"kind":"allow","__proto__":{"kind":"block"}}')],
  ['a kind that throws when read', getter('kind')],
  ['a reason that throws when read', Object.assign(getter('reason'), { kind: 'block' })],
  ['a proxy whose keys cannot be listed', new Proxy({}, { ownKeys: refuse })],
  ['a proxy whose values cannot be read', new Proxy({ kind: 'allow' }, { getOwnPropertyDescriptor: refuse })],
  ['an error', new Error('block')],
  ['a map', new Map([['kind', 'allow']])],
]

describe('4.7 #108 an answer a gate cannot read', () => {
  test.each(unreadable)('%s closes it with handler.result', async (_, answer) => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'h', on_error: 'allow' }, () => answer as never)
    const decision = await hooks.dispatch('pre_tool_use', bash)
    expect(decision).toMatchObject({ kind: 'block', code: 'handler.result', by: 'h' })
  })

  test.each(unreadable)('%s, promised, closes it too', async (_, answer) => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'h', on_error: 'allow' }, async () => answer as never)
    const decision = await hooks.dispatch('pre_tool_use', bash)
    expect(decision).toMatchObject({ kind: 'block', code: 'handler.result', by: 'h' })
    expect(unhandled).toEqual([])
  })

  test.each(unreadable)('%s is passed by with on_invalid: allow, and listed', async (_, answer) => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'h', on_invalid: 'allow' }, () => answer as never)
    expect(await hooks.dispatch('pre_tool_use', bash)).toEqual({
      kind: 'allow',
      opened: [{ hook: 'h', because: 'invalid', code: 'handler.result' }],
    })
  })

  test.each<[string, () => unknown]>([
    ['a revoked proxy', revoked],
    ['a throwing then', () => getter('then')],
    ['a proxy that refuses everything', () => new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse })],
  ])('%s is a failure, whichever policy it falls under', async (_, answer) => {
    for (const run of [answer, async () => answer()]) {
      const hooks = createHooks()
      hooks.on('pre_tool_use', { id: 'h' }, run as never)
      expect(await hooks.dispatch('pre_tool_use', bash)).toMatchObject({ kind: 'block', by: 'h' })
    }
    expect(unhandled).toEqual([])
  })
})

describe('a rewrite that cannot be read', () => {
  const patches: [string, () => object][] = [
    ['a getter that throws', () => getter('command')],
    ['a proxy that refuses', () => new Proxy({ command: 'x' }, { ownKeys: refuse })],
    ['a proxy whose values cannot be read', () => new Proxy({ command: 'x' }, { get: refuse })],
    ['a revoked proxy', revoked],
    ['a getter deep inside', () => ({ command: getter('x') })],
  ]
  test.each(patches)('%s closes the gate', async (_, patch) => {
    for (const run of [() => rewrite(patch()), async () => rewrite(patch())]) {
      const clock = fakeClock()
      const hooks = createHooks({ clock })
      hooks.on('pre_tool_use', { id: 'h' }, run as never)
      const answer = hooks.dispatch('pre_tool_use', bash)
      await clock.advance(10_050)
      expect(await Promise.race([answer, 'no answer'])).toMatchObject({
        kind: 'block',
        code: 'handler.result',
        by: 'h',
      })
    }
    expect(unhandled).toEqual([])
  })

  test('a patch cannot show one face to a locked hook and another to the caller', async () => {
    const hooks = createHooks()
    const passed: string[] = []
    const two = Object.defineProperty({}, 'command', {
      enumerable: true,
      get: () => (passed.length < 2 ? 'ls -l' : 'rm -rf /'),
    })
    hooks.on(
      'pre_tool_use',
      { locked: true },
      ({ tool_input }) => void passed.push(String(tool_input.command)),
    )
    hooks.on('pre_tool_use', () => rewrite(two as { command: string }))
    const decision = await hooks.dispatch('pre_tool_use', bash)
    if (decision.kind === 'allow') expect(passed.at(-1)).toBe(decision.input?.command)
  })

  test('what becomes of a patch after it was returned changes nothing', async () => {
    const hooks = createHooks()
    const patch = { command: 'ls -l', list: ['a'] }
    hooks.on('pre_tool_use', () => rewrite(patch))
    const decision = await hooks.dispatch('pre_tool_use', bash)
    patch.list.push('rm')
    expect(decision.input).toEqual({ command: 'ls -l', list: ['a'] })
  })
})

test('an answer is read once: a getter cannot say allow first and block later', async () => {
  const hooks = createHooks()
  let reads = 0
  const answer = {
    get kind() {
      return ++reads === 1 ? 'block' : 'allow'
    },
    reason: 'first face',
  }
  hooks.on('pre_tool_use', () => answer as never)
  expect(await hooks.dispatch('pre_tool_use', bash)).toMatchObject({ kind: 'block', reason: 'first face' })
  expect(reads).toBe(1)
})

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
