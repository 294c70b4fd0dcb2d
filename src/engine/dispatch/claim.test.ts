import { describe, expect, test } from 'vitest'
import { createHooks } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'

const message = { content: 'hello' }

describe('the first hook that handles an event has it', () => {
  test('later hooks are not called', async () => {
    const hooks = createHooks()
    const ran: string[] = []
    hooks.on('before_dispatch', { id: 'a' }, () => void ran.push('a'))
    hooks.on('before_dispatch', { id: 'b' }, async () => {
      ran.push('b')
      return { handled: true, text: 'done' }
    })
    hooks.on('before_dispatch', { id: 'c' }, () => {
      ran.push('c')
      return { handled: true, text: 'too late' }
    })
    expect(await hooks.dispatch('before_dispatch', message)).toMatchObject({
      kind: 'allow',
      by: 'b',
      fields: { handled: true, text: 'done' },
    })
    expect(ran).toEqual(['a', 'b'])
  })

  test('handled: false is no claim, whatever else it says', async () => {
    const hooks = createHooks()
    hooks.on('before_dispatch', () => ({ handled: false, text: 'ignored' }))
    expect(await hooks.dispatch('before_dispatch', message)).toEqual({ kind: 'allow' })
  })

  test('a hook that fails, in any way, is passed by', async () => {
    const clock = fakeClock()
    const hooks = createHooks({ clock })
    hooks.on('before_dispatch', () => {
      throw new Error('boom')
    })
    hooks.on('before_dispatch', () => ({ handled: 'yes' }) as never)
    hooks.on('before_dispatch', () => ({ handled: true, unknown: 1 }) as never)
    hooks.on('before_dispatch', () => new Promise<never>(() => {}))
    hooks.on('before_dispatch', { id: 'good' }, () => ({ handled: true, text: 'mine' }))
    const answer = hooks.dispatch('before_dispatch', message)
    await clock.advance(5_050)
    expect(await answer).toMatchObject({ by: 'good', fields: { text: 'mine' } })
  })

  test('nobody claims: nobody has it', async () => {
    const hooks = createHooks()
    hooks.on('before_dispatch', () => {})
    hooks.on('before_dispatch', () => null as never)
    expect(await hooks.dispatch('before_dispatch', message)).toEqual({ kind: 'allow' })
  })
})
