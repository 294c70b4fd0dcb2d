import { describe, expect, test } from 'vitest'
import { boom, fail, hostWith, inbound, messageCtx, on } from '../../../test/openclaw/plugins.fixture.ts'

const claims = (answer: unknown, pluginId: string) => on('inbound_claim', () => answer, { pluginId })
const outcomeFor = (host: ReturnType<typeof hostWith>, id = 'p') =>
  host.runner.runInboundClaimForPluginOutcome(id, inbound, messageCtx)

describe('the first claim wins', () => {
  test('OC-18 OC-36 the first handler that handled it ends the search with its own answer', async () => {
    const answer = { handled: true, reply: { text: 'mine' } }
    const called: string[] = []
    const { runner } = hostWith([
      claims({ handled: false }, 'a'),
      claims(undefined, 'b'),
      claims(answer, 'c'),
      on('inbound_claim', () => called.push('d')),
    ])
    expect(await runner.runInboundClaim(inbound, messageCtx)).toBe(answer)
    expect(called).toEqual([])
  })

  test('OC-18 anything truthy in handled is a claim', async () => {
    const { runner } = hostWith([claims({ handled: 1 }, 'a')])
    expect(await runner.runInboundClaim(inbound, messageCtx)).toEqual({ handled: 1 })
  })

  test('OC-18 when nobody claims the answer is undefined', async () => {
    const { runner } = hostWith([claims(null, 'a'), claims({}, 'b')])
    expect(await runner.runInboundClaim(inbound, messageCtx)).toBeUndefined()
  })

  test('OC-18 a handler that throws is logged and the next one is asked', async () => {
    const { runner, log } = hostWith([on('inbound_claim', boom), claims({ handled: true }, 'b')])
    expect(await runner.runInboundClaim(inbound, messageCtx)).toEqual({ handled: true })
    expect(log).toContain('error [hooks] inbound_claim handler from plugin failed: boom')
  })

  test('OC-18 a closed claim throws instead', async () => {
    const { runner } = hostWith([on('inbound_claim', boom), claims({ handled: true }, 'b')], {
      catchErrors: false,
    })
    await expect(runner.runInboundClaim(inbound, messageCtx)).rejects.toThrow('failed: boom')
  })
})

describe('one plugin is asked', () => {
  test('OC-73 only its handlers are called, in their order', async () => {
    const called: string[] = []
    const call = (id: string, pluginId: string, priority: number) =>
      on('inbound_claim', () => void called.push(id), { pluginId, priority })
    const { runner, log } = hostWith([call('low', 'p', 1), call('other', 'q', 5), call('high', 'p', 9)])
    expect(await runner.runInboundClaimForPlugin('p', inbound, messageCtx)).toBeUndefined()
    expect(called).toEqual(['high', 'low'])
    expect(log).toEqual(['debug [hooks] running inbound_claim for p (2 handlers, targeted)'])
  })

  test('OC-73 its claim is the answer, and a plugin without handlers has none', async () => {
    const { runner } = hostWith([claims({ handled: true }, 'p')])
    expect(await runner.runInboundClaimForPlugin('p', inbound, messageCtx)).toEqual({ handled: true })
    expect(await runner.runInboundClaimForPlugin('q', inbound, messageCtx)).toBeUndefined()
  })

  test('OC-74 a plugin that is not there or not loaded is missing, even with a handler', async () => {
    const host = hostWith([claims({ handled: true }, 'p')])
    expect(await outcomeFor(host, 'stranger')).toEqual({ status: 'missing_plugin' })
    host.registry.plugins = [{ id: 'p', status: 'disabled' }]
    expect(await outcomeFor(host)).toEqual({ status: 'missing_plugin' })
  })

  test('OC-74 a loaded plugin without a handler has no handler', async () => {
    const host = hostWith([claims({ handled: true }, 'q')])
    host.registry.plugins.push({ id: 'p', status: 'loaded' })
    expect(await outcomeFor(host)).toEqual({ status: 'no_handler' })
  })

  test('OC-74 a claim is handled, even after a failure', async () => {
    const host = hostWith([on('inbound_claim', boom, { pluginId: 'p' }), claims({ handled: true }, 'p')])
    expect(await outcomeFor(host)).toEqual({ status: 'handled', result: { handled: true } })
    expect(host.log[0]).toBe('debug [hooks] running inbound_claim for p (2 handlers, targeted outcome)')
  })

  test('OC-74 without a claim the first failure is the outcome, by its first line', async () => {
    const host = hostWith([
      on('inbound_claim', () => fail('  first line \nsecond line'), { pluginId: 'p' }),
      on('inbound_claim', () => fail('another'), { pluginId: 'p' }),
    ])
    expect(await outcomeFor(host)).toEqual({ status: 'error', error: 'first line' })
  })

  test('OC-74 a failure without words is an unknown error', async () => {
    const host = hostWith([on('inbound_claim', () => Promise.reject(''), { pluginId: 'p' })])
    expect(await outcomeFor(host)).toEqual({ status: 'error', error: 'unknown error' })
  })

  test('OC-74 no claim and no failure is declined', async () => {
    expect(await outcomeFor(hostWith([claims({ handled: false }, 'p')]))).toEqual({ status: 'declined' })
  })

  test('OC-75 a closed hook throws instead of answering error', async () => {
    const host = hostWith([on('inbound_claim', boom, { pluginId: 'p' })], { catchErrors: false })
    await expect(outcomeFor(host)).rejects.toThrow('[hooks] inbound_claim handler from p failed: boom')
  })
})
