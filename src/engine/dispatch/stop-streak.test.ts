import { describe, expect, test } from 'vitest'
import { ask, block, createHooks, type Envelope, type HookOptions } from '../../index.ts'
import { fakeClock, recorder } from '../../testing/index.ts'

function blocking() {
  const seen = recorder()
  const hooks = createHooks({ log: seen.log })
  let answer: 'block' | 'allow' = 'block'
  hooks.on('stop', { id: 'h' }, () => (answer === 'block' ? block('go on') : undefined))
  const stop = (envelope: Envelope = { session: 's' }) => hooks.dispatch('stop', {}, envelope)
  const times = async (count: number, envelope?: Envelope) => {
    const kinds: string[] = []
    for (let i = 0; i < count; i++) kinds.push((await stop(envelope)).kind)
    return kinds
  }
  return { hooks, seen, stop, times, let: (what: 'block' | 'allow') => (answer = what) }
}

const blocks = (count: number) => Array.from({ length: count }, () => 'block')

describe('an agent that cannot stop is worse than one that does', () => {
  test('stop is blocked at most eight times in a row, then the block is listed and not applied', async () => {
    const { stop, times, seen } = blocking()
    expect(await times(8)).toEqual(blocks(8))
    expect(await stop()).toEqual({
      kind: 'allow',
      ignored: [{ hook: 'h', code: 'guard.streak', reason: 'go on' }],
    })
    expect(seen.lines).toMatchObject([{ name: 'guard.streak', fields: { hook: 'h', session: 's' } }])
  })

  test('a stop that is allowed begins a new row', async () => {
    const { times, stop, let: say } = blocking()
    await times(7)
    say('allow')
    expect((await stop()).kind).toBe('allow')
    say('block')
    expect(await times(9)).toEqual([...blocks(8), 'allow'])
  })

  test('sessions do not mix, and neither do tenants', async () => {
    const { times, stop } = blocking()
    await times(8, { session: 'one' })
    expect((await stop({ session: 'two' })).kind).toBe('block')
    expect((await stop({ session: 'one', tenant: 't' })).kind).toBe('block')
    expect((await stop({ session: 'one' })).kind).toBe('allow')
  })

  test('no name of a tenant and a session runs into that of another', async () => {
    const { times, stop } = blocking()
    await times(8, { tenant: 'a', session: 'b|c' })
    expect((await stop({ tenant: 'a|b', session: 'c' })).kind).toBe('block')
  })

  test('also when the agent is too deep in a chain', async () => {
    const { times } = blocking()
    const kinds = await times(9, { session: 's', depth: 4 })
    expect(kinds.at(-1)).toBe('allow')
  })

  const never = () => new Promise<never>(() => {})
  const boom = () => {
    throw new Error('boom')
  }
  const issuers: [string, () => unknown, HookOptions, Envelope][] = [
    ['an error', boom, { on_error: 'block' }, {}],
    ['a timeout', never, { on_timeout: 'block', timeout_ms: 900 }, {}],
    ['an unreadable answer', () => 'junk', { on_invalid: 'block' }, {}],
    ['a spent budget', never, { on_timeout: 'allow', timeout_ms: 900 }, {}],
    ['the breaker', boom, { enabled: false, disabled_reason: 'breaker', on_error: 'block' }, {}],
    ['the depth limit', () => undefined, {}, { depth: 9 }],
  ]
  test.each(issuers)('whoever issued the blocks: %s', async (_, hook, options, envelope) => {
    const clock = fakeClock()
    const hooks = createHooks({ clock, budgetMs: 1_000, breaker: false })
    for (const id of ['a', 'b']) hooks.on('stop', { id, ...options }, hook as never)
    const kinds: string[] = []
    for (let i = 0; i < 9; i++) {
      const answer = hooks.dispatch('stop', {}, { session: 's', ...envelope })
      await clock.advance(1_200)
      kinds.push((await answer).kind)
    }
    expect(kinds).toEqual([...blocks(8), 'allow'])
  })

  test('a question counts like a block: an agent that cannot ask is blocked by it', async () => {
    const hooks = createHooks()
    let count = 0
    hooks.on('stop', { id: 'h' }, () => (count++ % 2 === 0 ? ask('sure?') : block('go on')))
    const kinds: string[] = []
    for (let i = 0; i < 9; i++) kinds.push((await hooks.dispatch('stop', {}, { session: 's' })).kind)
    expect(kinds.slice(0, 8)).not.toContain('allow')
    expect(kinds.at(-1)).toBe('allow')
  })

  test('pre_compact may be blocked as often as a hook likes', async () => {
    const hooks = createHooks()
    hooks.on('pre_compact', () => block('no'))
    for (let i = 0; i < 12; i++) expect((await hooks.dispatch('pre_compact', {})).kind).toBe('block')
  })
})

describe('when nobody can count', () => {
  test.each<[string, () => never | Promise<never>]>([
    [
      'throws',
      () => {
        throw new Error('down')
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
  ])('a guard state that %s lets the agent stop', async (_, take) => {
    const hooks = createHooks({ guards: { take } })
    hooks.on('stop', { id: 'h' }, () => block('go on'))
    expect(await hooks.dispatch('stop', {})).toMatchObject({
      kind: 'allow',
      ignored: [{ hook: 'h', code: 'guard.streak' }],
    })
  })
})
