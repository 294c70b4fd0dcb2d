import { describe, expect, test } from 'vitest'
import type { NativeReading } from '../../agents/agent-adapter.ts'
import type { Envelope } from '../../engine/core/context.ts'
import { AgentSessions } from './agent-sessions.ts'

const where = { tenant: 't', agent: 'robot', now: 1 }

function joined() {
  const sessions = new AgentSessions()
  const join = (event: string, envelope: Envelope, more: Partial<NativeReading> = {}) =>
    sessions.join(where, event, { payload: {}, ...more, envelope: { session: 's', ...envelope } })
  return {
    sessions,
    join,
    spawn: (toolCall: string, lane?: string) =>
      join(
        'pre_tool_use',
        { toolCall, ...(lane === undefined ? {} : { lane }) },
        { payload: { tool_name: 'Agent', tool_input: {} } },
      ),
    start: (agent_id: string) => join('subagent_start', {}, { payload: { agent_id } }),
    depthOf: (lane: string) => join('notification', { lane }).depth,
  }
}

describe('a sub-agent that never started is nobody’s parent', () => {
  test.each<[string, (made: ReturnType<typeof joined>) => void]>([
    ['refused by a hook', ({ sessions, spawn }) => sessions.refuseCall(where, spawn('c2', 'a1'))],
    [
      'failed',
      ({ spawn, join }) => {
        spawn('c2', 'a1')
        join('post_tool_use_failure', { toolCall: 'c2', lane: 'a1' })
      },
    ],
    [
      'refused by a person, who then said something else',
      ({ spawn, join }) => {
        spawn('c2', 'a1')
        join('user_prompt_submit', {})
      },
    ],
  ])('%s', (_, never) => {
    const made = joined()
    made.spawn('c1')
    made.start('a1')
    never(made)
    made.spawn('c3')
    made.start('a2')
    expect([made.depthOf('a1'), made.depthOf('a2')]).toEqual([1, 1])
  })

  test('whoever asks in vain again and again does not sink', () => {
    const made = joined()
    for (let i = 0; i < 10; i++) {
      made.spawn(`c${i}`)
      made.start(`a${i}`)
      made.sessions.refuseCall(where, made.spawn(`d${i}`, `a${i}`))
      expect(made.depthOf(`a${i}`)).toBe(1)
    }
  })
})

test('a sub-agent that starts again, even by its own hand, is where it was', () => {
  const made = joined()
  made.spawn('c1')
  for (let i = 0; i < 5; i++) {
    made.start('a1')
    made.spawn(`d${i}`, 'a1')
    expect(made.depthOf('a1')).toBe(1)
  }
})

describe('sessions of sub-agents', () => {
  test('belong to the one at the top, however deep', () => {
    const { join } = joined()
    join('session_start', { session: 'child' }, { parentSession: 's' })
    expect(join('session_start', { session: 'grandchild' }, { parentSession: 'child' })).toMatchObject({
      session: 's',
      lane: 'grandchild',
      parentAgent: 'child',
      depth: 2,
    })
  })

  test.each([
    ['itself', ['a', 'a']],
    ['one another', ['a', 'b']],
    ['a ring', ['a', 'b', 'c', 'd']],
  ])('that were started from %s end somewhere', (_, ring) => {
    const { join } = joined()
    for (const [index, session] of ring.entries())
      expect(
        join('session_start', { session }, { parentSession: ring[(index + 1) % ring.length] ?? '' }).session,
      ).toEqual(expect.any(String))
  })
})

test.each(['__proto__', 'constructor', 'toString', '\0', 's\0s', 'x'.repeat(500), '\ud800'])(
  'a session may have any name: %j',
  (session) => {
    const { join } = joined()
    expect(join('user_prompt_submit', { session, turn: 'one' })).toMatchObject({ session, turn: 'one' })
    expect(join('notification', { session }).turn).toBe('one')
    expect(join('notification', {}).turn).toBeUndefined()
    expect(join('notification', { session, lane: session }).depth).toBe(1)
  },
)

test('what tenants and agents call alike is not the same', () => {
  const sessions = new AgentSessions()
  const join = (tenant: string, agent: string, envelope: Envelope) =>
    sessions.join({ tenant, agent, now: 1 }, 'user_prompt_submit', { payload: {}, envelope })
  join('t', 'a', { session: 's', turn: 'one' })
  const other = (tenant: string, agent: string) =>
    sessions.join({ tenant, agent, now: 1 }, 'notification', { payload: {}, envelope: { session: 's' } }).turn
  expect([other('t', 'a'), other('t', 'b'), other('u', 'a')]).toEqual(['one', undefined, undefined])
})
