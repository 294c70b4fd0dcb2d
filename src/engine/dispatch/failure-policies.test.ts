import { describe, expect, test } from 'vitest'
import { block, createHooks, type HookOptions } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { handlerError } from '../core/errors/handler-errors.ts'

const bash = { tool_name: 'Bash', tool_input: {} }
const never = () => new Promise<never>(() => {})
const boom = () => {
  throw new Error('boom')
}
const junk = () => 42

const failures: [string, () => unknown, string, HookOptions][] = [
  ['error', boom, 'handler.error', { on_error: 'allow' }],
  ['error', async () => boom(), 'handler.error', { on_error: 'allow' }],
  ['invalid', junk, 'handler.result', { on_invalid: 'allow' }],
  ['invalid', async () => junk(), 'handler.result', { on_invalid: 'allow' }],
  ['timeout', never, 'handler.timeout', { on_timeout: 'allow' }],
]

async function decide(
  fail: () => unknown,
  options: HookOptions = {},
  event: 'pre_tool_use' = 'pre_tool_use',
) {
  const clock = fakeClock()
  const hooks = createHooks({ clock })
  let next = 0
  hooks.on(event, { id: 'bad', ...options }, fail as never)
  hooks.on(event, () => void next++)
  const answer = hooks.dispatch(event, bash)
  await clock.advance(5_050)
  return { decision: await answer, next }
}

test('a deadline is a timeout whichever layer noticed it: a handler that keeps its own follows on_timeout', async () => {
  const handler = {
    type: 'sandboxed',
    timeoutCode: 'script.timeout',
    read: (config: unknown) => config,
    run: () => {
      throw handlerError('script.timeout', 'the script ran longer than 200 ms')
    },
  } as const
  const decide = (policies: HookOptions) => {
    const hooks = createHooks({ handlers: [handler] })
    hooks.add({ id: 'slow', event: 'pre_tool_use', handler_type: 'sandboxed', config: {}, ...policies })
    return hooks.dispatch('pre_tool_use', bash)
  }
  const opened = [{ hook: 'slow', because: 'timeout', code: 'script.timeout' }]
  expect(await decide({ on_timeout: 'allow', on_error: 'block' })).toEqual({ kind: 'allow', opened })
  expect(await decide({ on_timeout: 'block', on_error: 'allow' })).toMatchObject({
    kind: 'block',
    code: 'script.timeout',
  })
})

describe('a gate with no clear answer blocks', () => {
  test.each(failures)('GC-31 %s closes it at once (%o)', async (because, fail, code) => {
    const { decision, next } = await decide(fail)
    expect(decision).toMatchObject({ kind: 'block', code, by: 'bad', message: `a hook failed (${because})` })
    expect(decision.reason).toContain(`bad failed (${because})`)
    expect(next).toBe(0)
  })

  test.each(failures)('%s opens it when its own policy says so, and is listed (%o)', async (...row) => {
    const [because, fail, code, policy] = row
    const { decision, next } = await decide(fail, policy)
    expect(decision).toEqual({ kind: 'allow', opened: [{ hook: 'bad', because, code }] })
    expect(next).toBe(1)
  })

  test.each(failures)('%s does not follow the two other policies (%o)', async (...row) => {
    const [, fail, , policy] = row
    const others = {
      on_error: 'allow',
      on_timeout: 'allow',
      on_invalid: 'allow',
      ...flipped(policy),
    } as const
    expect((await decide(fail, others)).decision.kind).toBe('block')
  })

  test('what the handler threw is for operators, not for the model', async () => {
    const { decision } = await decide(boom)
    expect(decision.reason).toContain('boom')
    expect(decision.message).not.toContain('boom')
  })

  test('an opening is still told when a later hook blocks', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', { id: 'bad', on_error: 'allow' }, boom)
    hooks.on('pre_tool_use', { id: 'strict' }, () => block('no'))
    expect(await hooks.dispatch('pre_tool_use', bash)).toMatchObject({
      kind: 'block',
      by: 'strict',
      opened: [{ hook: 'bad', because: 'error' }],
    })
  })

  test.each(['continue', 'ignore'])('the spelling %s of other harnesses means allow', async (spelling) => {
    const { decision } = await decide(boom, { on_error: spelling as 'allow' })
    expect(decision.kind).toBe('allow')
  })
})

describe('where the default is open, a hook can close', () => {
  test('on stop with on_error: block', async () => {
    const hooks = createHooks()
    hooks.on('stop', { on_error: 'block' }, boom)
    expect(await hooks.dispatch('stop', {})).toMatchObject({ kind: 'block', code: 'handler.error' })
  })

  test('but not where nothing can be blocked', async () => {
    const hooks = createHooks()
    hooks.on('session_start', { on_error: 'block' }, boom)
    expect((await hooks.dispatch('session_start', {})).kind).toBe('allow')
  })
})

function flipped(policy: HookOptions): HookOptions {
  return Object.fromEntries(Object.keys(policy).map((key) => [key, 'block']))
}
