import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BadReceiver, badReceiver } from '../../src/testing/index.ts'
import { as, hookhelm, tokenFor } from './doors.fixture.ts'
import { exec, judge, modelFor } from './judge.fixture.ts'
import { type Running, running } from './running.fixture.ts'

type Fields = Readonly<Record<string, unknown>>

let receiver: BadReceiver
beforeAll(async () => {
  receiver = await badReceiver()
})
afterAll(() => receiver.close())

const never = () => new Promise(() => {})
/** Ends as soon as it is aborted, as a function with good manners does. */
const polite = (_: unknown, { signal }: { readonly signal: AbortSignal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })

describe('an answer that is not a decision and passes is flagged in the history', () => {
  const answers: [string, Fields, boolean][] = [
    ['plain text', { config: { command: 'echo checked 3 files' } }, true],
    [
      'lenient, broken JSON',
      { config: { command: `printf '{"decision":"block"'` }, answer: 'lenient' },
      true,
    ],
    ['no answer', { config: { command: 'true' } }, false],
    ['a decision', { config: { command: `echo '{"decision":"allow"}'` } }, false],
  ]
  test.each(answers)('%s', async (_, definition, unreadable) => {
    const gateway = await running()
    const hookId = await gateway.hook({ event: 'pre_tool_use', handler_type: 'command', ...definition })
    const { body } = await gateway.dispatch('pre_tool_use', exec('ls'))
    expect(body.decision.kind).toBe('allow')
    const rows = await gateway.until(
      () => gateway.call('GET', `/v1/executions?hookId=${hookId}`),
      (answer) => answer.body.executions.length > 0,
    )
    expect(rows.body.executions).toMatchObject([{ decision: 'allow', unreadable }])
    const { stdout } = await hookhelm(gateway, ['hooks', 'history'])
    expect(stdout.includes('allow ~')).toBe(unreadable)
  })
})

describe('a timeout is one row: our own abort is no late answer', () => {
  const slow: [string, () => Fields][] = [
    ['command', () => ({ config: { command: 'sleep 60' } })],
    ['http', () => ({ config: { url: `${receiver.origin}/hang` } })],
    ['script', () => ({ config: { source: 'function handle() { while (true) {} }' } })],
    ['prompt', () => judge],
    ['agent', () => ({ config: { prompt: 'Decide.', model: 'anthropic/haiku' } })],
    ['function', () => ({ config: { name: 'polite' } })],
  ]
  test.each(slow)('%s', async (handler_type, definition) => {
    const gateway = await running({ outbound: { allow: ['127.0.0.1'] }, functions: { polite } })
    await modelFor(gateway, [{ hang: true }])
    await gateway.hook({ event: 'pre_tool_use', handler_type, ...definition(), timeout_ms: 200 })
    const ids: string[] = []
    // Four in a row: by the last timeout, whatever the first three could still write is written.
    for (let i = 0; i < 4; i++) {
      const { body } = await gateway.dispatch('pre_tool_use', exec('ls'))
      expect(body.decision).toMatchObject({ kind: 'block', message: 'a hook failed (timeout)' })
      ids.push(body.event_id)
    }
    for (const id of ids.slice(0, 3)) {
      const { body } = await gateway.until(
        () => gateway.call('GET', `/v1/executions?eventId=${id}`),
        (answer) => answer.body.executions.length > 0,
      )
      expect(body.executions.map(({ decision }: Fields) => decision)).toEqual(['timeout'])
    }
    expect(gateway.logged.map(({ name }) => name)).not.toContain('engine.late')
  })
})

describe('a tripped hook keeps the policy of the failures that tripped it', () => {
  const functions = { never, fail: () => Promise.reject(new Error('down')) }
  const decide = async (gateway: Running, headers: Readonly<Record<string, string>> = {}) => {
    const event = { event: 'pre_tool_use', payload: exec('ls') }
    return (await gateway.call('POST', '/v1/dispatch', event, headers)).body.decision
  }
  const tripped = [
    ['never', { on_timeout: 'block', on_error: 'allow' }, 'timeout', 'block'],
    ['never', { on_timeout: 'allow', on_error: 'block' }, 'timeout', 'allow'],
    ['fail', { on_timeout: 'allow', on_error: 'block' }, 'error', 'block'],
  ] as const

  test.each(tripped)('%s with %o, also after a restart', async (name, policies, because, kind) => {
    const first = await running({ functions })
    const config = { name }
    const definition = { event: 'pre_tool_use', handler_type: 'function', config, timeout_ms: 50 }
    const hookId = await first.hook({ ...definition, ...policies })
    for (let i = 0; i < 5; i++) await decide(first)
    const expected =
      kind === 'block'
        ? { kind, code: 'guard.breaker', by: hookId }
        : { kind, opened: [{ hook: hookId, because, code: 'guard.breaker' }] }
    expect(await decide(first)).toMatchObject(expected)
    await first.until(
      () => first.call('GET', `/v1/hooks/${hookId}`),
      ({ body }) => body.hook.tripped_by === because,
    )
    await first.close()
    const second = await running({ home: first.home, functions })
    expect(await decide(second)).toMatchObject(expected)
    // A person edits the hook: it stays tripped, and its kind is kept.
    await second.call('PATCH', `/v1/hooks/${hookId}`, { updates: { name: 'renamed' } })
    expect(await decide(second)).toMatchObject(expected)
    await second.call('POST', `/v1/hooks/${hookId}/toggle`, { enabled: true })
    const { body } = await second.call('GET', `/v1/hooks/${hookId}`)
    expect(body.hook).not.toHaveProperty('tripped_by')
  })

  test('a global hook that one tenant tripped, for that tenant alone', async () => {
    const first = await running({ edition: 'standard', functions })
    await first.call('POST', '/v1/tenants', { name: 'acme' })
    const { token } = await tokenFor(first, { role: 'agent' }, 'acme')
    const master = { 'x-hookhelm-tenant': 'master' }
    const definition = {
      event: 'pre_tool_use',
      handler_type: 'function',
      scope: 'global',
      config: { name: 'never' },
      timeout_ms: 50,
      on_error: 'allow',
    }
    const made = await first.call('POST', '/v1/hooks', definition, master)
    expect(made.status).toBe(200)
    for (let i = 0; i < 5; i++) await decide(first, as(token))
    await first.until(
      () => first.call('GET', '/v1/status', undefined, { 'x-hookhelm-tenant': 'acme' }),
      ({ body }) => body.hooks.tripped.length === 1,
    )
    expect(await decide(first)).toMatchObject({ kind: 'block', code: 'handler.timeout' })
    expect(await decide(first, as(token))).toMatchObject({ kind: 'block', code: 'guard.breaker' })
    await first.close()
    const second = await running({ home: first.home, edition: 'standard', functions })
    expect(await decide(second, as(token))).toMatchObject({ kind: 'block', code: 'guard.breaker' })
  })
})
