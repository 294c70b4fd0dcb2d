import { describe, expect, test } from 'vitest'
import { watchUnhandled } from '../../../test/engine/unhandled.fixture.ts'
import { ask, block, createHooks, type Execution, type Hooks, rewrite, type Sink } from '../../index.ts'
import { fakeClock, recorder } from '../../testing/index.ts'

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const unhandled = watchUnhandled()

describe('one execution per hook that ran or that a guard skipped', () => {
  test('silent hooks are recorded, hooks that did not match or stand behind a block are not', async () => {
    const seen = recorder()
    const hooks = createHooks({ sink: seen.sink })
    hooks.on('pre_tool_use', { id: 'silent' }, () => {})
    hooks.on('pre_tool_use', { id: 'missed name', matcher: 'Read' }, () => {})
    hooks.on('pre_tool_use', { id: 'missed input', matcher: 'Bash(rm *)' }, () => {})
    hooks.on('pre_tool_use', { id: 'asks' }, async () => ask('sure?'))
    hooks.on('pre_tool_use', { id: 'blocks' }, () => block('no'))
    hooks.on('pre_tool_use', { id: 'behind' }, () => {})
    await hooks.dispatch('pre_tool_use', bash, { id: 'e' })
    expect(seen.dispatches).toMatchObject([
      {
        event: 'pre_tool_use',
        decision: { kind: 'block', by: 'blocks' },
        executions: [
          { hook: 'silent', decision: 'allow' },
          { hook: 'asks', decision: 'ask', reason: 'sure?' },
          { hook: 'blocks', decision: 'block', reason: 'no' },
        ],
      },
    ])
    expect(seen.dispatches[0]?.executions).toHaveLength(3)
  })

  test('an event nobody listens to is recorded too, with no executions', async () => {
    const seen = recorder()
    await createHooks({ sink: seen.sink }).dispatch('pre_tool_use', bash)
    expect(seen.dispatches).toMatchObject([{ decision: { kind: 'allow' }, executions: [] }])
  })

  test('a record carries the event as it came: id, time, payload, envelope', async () => {
    const records: unknown[] = []
    const sink: Sink = {
      record: ({ event, id, time, payload, envelope }) =>
        records.push({ event, id, time, payload, session: envelope.session }),
    }
    const hooks = createHooks({ sink })
    hooks.on('pre_tool_use', () => {})
    await hooks.dispatch('pre_tool_use', bash, { id: 'e', time: 3, session: 's' })
    expect(records).toEqual([{ event: 'pre_tool_use', id: 'e', time: 3, payload: bash, session: 's' }])
  })
})

/** Everything that can become of a hook, in one dispatch after the other. */
async function everything(timed: boolean) {
  const clock = fakeClock()
  const seen = recorder({ timed })
  const hooks: Hooks = createHooks({ clock, sink: seen.sink })
  hooks.on('pre_tool_use', { id: 'locked', locked: true }, () => {})
  hooks.on('pre_tool_use', { id: 'shadow', shadow: true, priority: 9 }, () => block('shadow'))
  hooks.on('pre_tool_use', { id: 'silent' }, async () => {})
  hooks.on('pre_tool_use', { id: 'throws', on_error: 'allow' }, () => {
    throw new Error('boom')
  })
  hooks.on('pre_tool_use', { id: 'cools', cooldown_ms: 60_000 }, () => {})
  hooks.on(
    'pre_tool_use',
    { id: 'stuck', timeout_ms: 50, on_timeout: 'allow' },
    () => new Promise<never>(() => {}),
  )
  hooks.on('pre_tool_use', { id: 'rewrites' }, () => rewrite({ command: 'b' }))
  hooks.on('pre_tool_use', { id: 'last' }, () => ask('sure?'))
  hooks.on('session_end', { id: 'observer' }, () => {})
  for (let i = 0; i < 2; i++) {
    const answer = hooks.dispatch('pre_tool_use', bash)
    await clock.advance(150)
    await answer
  }
  await hooks.dispatch('session_end', {})
  await hooks.drain()
  return seen.dispatches.map(({ executions }) => executions)
}
const withoutTimes = (executions: readonly Execution[]) => executions.map(({ durationMs, ...rest }) => rest)

describe('a sink that wants no times', () => {
  test('gets the same executions, without durations', async () => {
    const [plain, timed] = [await everything(false), await everything(true)]
    const sorted = (all: readonly Execution[]) =>
      withoutTimes(all).toSorted((a, b) => a.hook.localeCompare(b.hook))
    expect(plain.map(sorted)).toEqual(timed.map(sorted))
    expect(plain.flat().some((execution) => 'durationMs' in execution)).toBe(false)
    const ran = timed.flat().filter(({ decision }) => decision !== 'skipped')
    expect(ran.every(({ durationMs }) => typeof durationMs === 'number')).toBe(true)
  })

  test('gets them in the order in which the hooks ran', async () => {
    const [first] = await everything(false)
    const [timedFirst] = await everything(true)
    expect(first?.filter(({ shadow }) => !shadow).map(({ hook }) => hook)).toEqual(
      timedFirst?.filter(({ shadow }) => !shadow).map(({ hook }) => hook),
    )
  })
})

describe('a sink that fails changes nothing', () => {
  const failing: [string, Sink['record']][] = [
    [
      'throws',
      () => {
        throw new Error('disk full')
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ]
  test.each(failing)('one that %s is logged, and the answer stands', async (_, record) => {
    const seen = recorder()
    const hooks = createHooks({ sink: { record }, log: seen.log })
    hooks.on('pre_tool_use', () => block('no'))
    hooks.on('session_end', () => {})
    expect(await hooks.dispatch('pre_tool_use', bash)).toMatchObject({ kind: 'block', reason: 'no' })
    expect(await hooks.dispatch('session_end', {})).toEqual({ kind: 'allow' })
    await hooks.drain()
    await fakeClock().advance(1)
    expect(unhandled).toEqual([])
    const failed = seen.lines.filter(({ name }) => name === 'security.hook.audit_write_failed')
    expect(failed).toMatchObject([
      { fields: { event: 'pre_tool_use', error: 'disk full' } },
      { fields: { event: 'session_end', error: 'disk full' } },
    ])
  })

  test('a log that throws changes nothing either', async () => {
    const log = () => {
      throw new Error('log')
    }
    const hooks = createHooks({ log })
    hooks.on('session_start', () => block('never'))
    expect((await hooks.dispatch('session_start', {})).kind).toBe('allow')
    expect((await hooks.dispatch('session_start', {}, { depth: 9 })).kind).toBe('allow')
  })
})
