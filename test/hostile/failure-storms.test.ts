import { describe, expect, test } from 'vitest'
import { createHooks } from '../../src/index.ts'
import { fakeClock, recorder } from '../../src/testing/index.ts'

const bash = { tool_name: 'Bash', tool_input: {} }

/** A hook that hangs or answers, as told; every dispatch takes 125 ms at most. */
function storm() {
  const clock = fakeClock()
  const seen = recorder()
  const hooks = createHooks({ clock, log: seen.log })
  let mood: 'hangs' | 'answers' = 'hangs'
  let calls = 0
  hooks.on('pre_tool_use', { id: 'h', timeout_ms: 100 }, () => {
    calls++
    return mood === 'hangs' ? new Promise<never>(() => {}) : undefined
  })
  const dispatch = async (now: 'hangs' | 'answers') => {
    mood = now
    const answer = hooks.dispatch('pre_tool_use', bash)
    await clock.advance(150)
    return answer
  }
  const trips = () => seen.lines.filter(({ name }) => name === 'security.hook.circuit_breaker').length
  return { clock, hooks, dispatch, trips, calls: () => calls }
}

describe('4.8 #115 five timeouts in a minute', () => {
  test('trip the breaker: the hook is off, the operator is told, the gate stays closed', async () => {
    const { hooks, dispatch, trips, calls } = storm()
    for (let i = 0; i < 5; i++) expect(await dispatch('hangs')).toMatchObject({ code: 'handler.timeout' })
    expect(hooks.list()[0]).toMatchObject({ id: 'h', enabled: false, disabled_reason: 'breaker' })
    expect(trips()).toBe(1)
    expect(await dispatch('answers')).toMatchObject({ kind: 'block', code: 'guard.breaker', by: 'h' })
    expect(calls()).toBe(5)
    hooks.toggle('h', true)
    expect((await dispatch('answers')).kind).toBe('allow')
  })

  test('many at once trip it once', async () => {
    const { clock, hooks, trips } = storm()
    const answers = Array.from({ length: 50 }, () => hooks.dispatch('pre_tool_use', bash))
    await clock.advance(150)
    const codes = new Set((await Promise.all(answers)).map(({ code }) => code))
    expect([...codes]).toEqual(['handler.timeout'])
    expect(trips()).toBe(1)
  })
})

describe('4.8 #116 what does not trip the breaker', () => {
  test('four timeouts and one good answer, again and again', async () => {
    const { hooks, dispatch, trips } = storm()
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 4; i++) await dispatch('hangs')
      await dispatch('answers')
    }
    expect(trips()).toBe(0)
    expect(hooks.list()[0]?.enabled).toBeUndefined()
  })

  test('five timeouts spread over 61 seconds', async () => {
    const { clock, dispatch, trips } = storm()
    for (let i = 0; i < 5; i++) {
      await dispatch('hangs')
      await clock.advance(15_250 - 150)
    }
    expect(trips()).toBe(0)
  })

  test('nor any number of them at that pace', async () => {
    const { clock, dispatch, trips } = storm()
    for (let i = 0; i < 12; i++) {
      await dispatch('hangs')
      await clock.advance(15_250 - 150)
    }
    expect(trips()).toBe(0)
  })
})

test('a thousand dispatches at once are each decided on their own', async () => {
  const clock = fakeClock()
  const hooks = createHooks({ clock })
  hooks.on('pre_tool_use', async ({ tool_input }) => {
    if (Number(tool_input.n) % 2 === 1) return { kind: 'block', reason: String(tool_input.n) }
  })
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, n) => hooks.dispatch('pre_tool_use', { ...bash, tool_input: { n } })),
  )
  answers.forEach((decision, n) => {
    expect(decision.reason).toBe(n % 2 === 1 ? String(n) : undefined)
  })
})
