import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BadReceiver, badReceiver } from '../../src/testing/index.ts'
import { decides, exec, judge, modelFor } from './judge.fixture.ts'
import { shared } from './running.fixture.ts'

let receiver: BadReceiver
beforeAll(async () => {
  receiver = await badReceiver()
})
afterAll(() => receiver.close())

const gateway = shared(() => ({
  outbound: { allow: ['127.0.0.1'] },
  functions: {
    pass: () => undefined,
    fail: () => {
      const cause = new Error('the root of it')
      throw new Error(`mail bob@example.com, ${'x'.repeat(400)} the end`, { cause })
    },
    no: () => ({ kind: 'block', reason: 'shadow says no' }),
  },
}))

type Fields = Readonly<Record<string, unknown>>

/** Makes a hook, sends one event of a session of its own past it, and answers its rows. */
async function rowsAfter(hook: Fields, payload: unknown = exec('ls'), more: Fields = {}) {
  const hookId = await gateway().hook({ event: 'pre_tool_use', ...hook })
  const { body } = await gateway().dispatch(String(hook.event ?? 'pre_tool_use'), payload, more)
  const { body: page } = await gateway().until(
    () => gateway().call('GET', `/v1/executions?hookId=${hookId}&eventId=${body.event_id}`),
    (answer) => answer.body.executions.length > 0,
  )
  await gateway().call('DELETE', `/v1/hooks/${hookId}`)
  return {
    hookId,
    eventId: body.event_id,
    decision: body.decision,
    rows: page.executions,
    row: page.executions[0],
  }
}

describe('what a row holds', () => {
  test('GC-92 GC-93 GC-96 of a command: stdout_len, the trace, its own dedup key, and no output', async () => {
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`
    const envelope = { session: 'row-session', agent: 'reviewer', traceparent }
    const { row, hookId, eventId } = await rowsAfter(
      {
        handler_type: 'command',
        matcher: '^exec$',
        if_expr: 'size(tool_input.cmd) > 1',
        name: 'prints',
        config: { command: `echo 0123456789 >&2; printf '{}        '` },
      },
      exec('ls'),
      { envelope },
    )
    expect(row).toMatchObject({
      hook_id: hookId,
      event_id: eventId,
      event: 'pre_tool_use',
      handler_type: 'command',
      session_id: 'row-session',
      decision: 'allow',
      retry: 0,
      dedup_key: `${hookId}:${eventId}`,
      error: null,
      shadow: false,
      tenant_id: gateway().defaultTenant,
    })
    expect(row.agent_id).toMatch(/^[\da-f-]{36}$/)
    expect(row.metadata).toMatchObject({
      matcher_matched: true,
      cel_eval_result: true,
      stdout_len: 10,
      exit_code: 0,
      trace_id: 'ab'.repeat(16),
    })
    expect(JSON.stringify(row)).not.toContain('0123456789')
    expect(row.duration_ms).toBeGreaterThan(0)
    expect(row.created_at).toBeGreaterThan(Date.UTC(2020, 0))
  })

  test('GC-94 the hash is of the tool name and its input with sorted keys', async () => {
    const hook = { handler_type: 'function', config: { name: 'pass' } }
    const payload = { tool_name: 'exec', tool_input: { b: 1, a: { d: 2, c: 3 } } }
    const { row } = await rowsAfter(hook, payload)
    const canonical = 'exec\0{"a":{"c":3,"d":2},"b":1}'
    expect(row.input_hash).toBe(createHash('sha256').update(canonical).digest('hex'))
    const none = await rowsAfter({ ...hook, event: 'stop' }, {})
    expect(none.row.input_hash).toBe(createHash('sha256').update('\0null').digest('hex'))
  })

  test('GC-92 of a webhook: http_status and attempts, and the second attempt after a 5xx', async () => {
    const good = await rowsAfter({ handler_type: 'http', config: { url: `${receiver.origin}/allow` } })
    expect(good.row.metadata).toMatchObject({ http_status: 200, attempts: 1, matcher_matched: true })
    expect(good.row.metadata).not.toHaveProperty('cel_eval_result')
    const again = await rowsAfter({ handler_type: 'http', config: { url: `${receiver.origin}/500-once` } })
    expect(again.row).toMatchObject({ decision: 'block', metadata: { http_status: 200, attempts: 2 } })
    const refused = await rowsAfter({ handler_type: 'http', config: { url: `${receiver.origin}/400` } })
    expect(refused.row).toMatchObject({ decision: 'error', metadata: { http_status: 400, attempts: 1 } })
  })

  test('GC-92 of a prompt: prompt_model and prompt_tokens; from the cache no tokens', async () => {
    await modelFor(gateway(), [decides('block', 'too dangerous')])
    const hookId = await gateway().hook(judge)
    const first = await gateway().dispatch('pre_tool_use', exec('rm'))
    const second = await gateway().dispatch('pre_tool_use', exec('rm'))
    const { body } = await gateway().until(
      () => gateway().call('GET', `/v1/executions?hookId=${hookId}`),
      (answer) => answer.body.executions.length === 2,
    )
    await gateway().call('DELETE', `/v1/hooks/${hookId}`)
    const of = (id: string) => body.executions.find((row: Fields) => row.event_id === id)
    expect(of(first.body.event_id)).toMatchObject({
      decision: 'block',
      metadata: {
        prompt_model: expect.stringContaining('haiku'),
        prompt_tokens: 120,
        reason: 'too dangerous',
      },
    })
    expect(of(second.body.event_id).metadata).toMatchObject({ cached: true })
    expect(of(second.body.event_id).metadata).not.toHaveProperty('prompt_tokens')
  })

  test('GC-92 of a script: stdout_len', async () => {
    const source = `function handle(event) { console.log('abc'); return { decision: 'block', reason: event.toolName } }`
    const { row, decision } = await rowsAfter({ handler_type: 'script', config: { source } })
    expect(decision).toMatchObject({ kind: 'block', reason: 'exec' })
    expect(row.decision).toBe('block')
    expect(row.metadata.stdout_len).toBeGreaterThanOrEqual(3)
  })
})

describe('errors in rows', () => {
  test('GC-95 GC-96 4.11 #156 the error is redacted and short, its detail is the whole text, opened for operators', async () => {
    const { row, eventId } = await rowsAfter({ handler_type: 'function', config: { name: 'fail' } })
    expect(row).toMatchObject({ decision: 'error', code: 'handler.error' })
    expect(Buffer.byteLength(row.error)).toBeLessThanOrEqual(256)
    expect(row.error).toContain('[REDACTED]')
    expect(row.error).not.toContain('bob@example.com')
    expect(row).not.toHaveProperty('error_detail')
    const { body } = await gateway().call('GET', `/v1/events/${eventId}/executions/${row.id}`)
    expect(body.execution).toMatchObject({ ...row, hook_id: null, hook_name: null })
    expect(body.execution.error_detail).toContain(`mail bob@example.com, ${'x'.repeat(400)} the end`)
    expect(body.execution.error_detail).toContain('the root of it')
  })

  test('GC-46 GC-96 a command that fails keeps what it printed in the detail only', async () => {
    const { row, eventId } = await rowsAfter({
      handler_type: 'command',
      config: { command: `echo '{"half":'; echo 'it broke' >&2; exit 7` },
    })
    expect(row).toMatchObject({ decision: 'error', code: 'process.exit', metadata: { exit_code: 7 } })
    expect(row.metadata).not.toHaveProperty('stderr')
    const { body } = await gateway().call('GET', `/v1/events/${eventId}/executions/${row.id}`)
    expect(body.execution.error_detail).toContain('stderr: it broke\nstdout: {"half":')
  })

  test('a row without an error has no detail', async () => {
    const { row, eventId } = await rowsAfter({ handler_type: 'function', config: { name: 'pass' } })
    const { body } = await gateway().call('GET', `/v1/events/${eventId}/executions/${row.id}`)
    expect(body.execution.error_detail).toBeNull()
  })
})

describe('rows of hooks that did not decide', () => {
  test('a shadow hook runs, is recorded as shadow, and decides nothing', async () => {
    const { row, decision } = await rowsAfter({
      handler_type: 'function',
      shadow: true,
      config: { name: 'no' },
    })
    expect(decision).toEqual({ kind: 'allow' })
    expect(row).toMatchObject({ shadow: true, decision: 'block', metadata: { reason: 'shadow says no' } })
  })

  test('4.8 #113 a hook that a guard holds back has a row that says why and for how long', async () => {
    const hook = {
      event: 'pre_tool_use',
      handler_type: 'function',
      config: { name: 'no' },
      cooldown_ms: 60_000,
    }
    const hookId = await gateway().hook(hook)
    expect((await gateway().dispatch('pre_tool_use', exec('ls'))).body.decision.kind).toBe('block')
    const { body } = await gateway().dispatch('pre_tool_use', exec('ls'))
    expect(body.decision.kind).toBe('allow')
    const { body: page } = await gateway().until(
      () => gateway().call('GET', `/v1/executions?hookId=${hookId}&decision=skipped`),
      (answer) => answer.body.executions.length === 1,
    )
    expect(page.executions[0]).toMatchObject({ event_id: body.event_id, code: 'guard.cooldown' })
    expect(page.executions[0].error).toMatch(/cooldown: \d+ ms left/)
    await gateway().call('DELETE', `/v1/hooks/${hookId}`)
  })

  test('GC-92 a hook that does not match has no row, and the trace says why', async () => {
    const hookId = await gateway().hook({
      event: 'pre_tool_use',
      handler_type: 'function',
      matcher: '^Write$',
      config: { name: 'no' },
    })
    const other = await rowsAfter({ handler_type: 'function', config: { name: 'pass' } })
    const rows = await gateway().call('GET', `/v1/executions?hookId=${hookId}`)
    expect(rows.body.executions).toEqual([])
    const { body } = await gateway().call('GET', `/v1/events/${other.eventId}/explain`)
    expect(body).toMatchObject({
      request: { event: 'pre_tool_use', payload: exec('ls') },
      decision: { kind: 'allow' },
    })
    expect(body.trace.hooks).toContainEqual(
      expect.objectContaining({
        hook: hookId,
        matched: false,
        because: 'matcher ^Write$ does not match "exec"',
      }),
    )
    await gateway().call('DELETE', `/v1/hooks/${hookId}`)
  })

  test('the trace shows a condition term by term, with the value that decided', async () => {
    const hookId = await gateway().hook({
      event: 'pre_tool_use',
      handler_type: 'function',
      if_expr: 'tool_name == "exec" && size(tool_input.cmd) > 80',
      config: { name: 'no' },
    })
    const other = await rowsAfter({ handler_type: 'function', config: { name: 'pass' } })
    const { body } = await gateway().call('GET', `/v1/events/${other.eventId}/explain`)
    expect(body.trace.hooks).toContainEqual({
      hook: hookId,
      name: 'pre_tool_use: function',
      matched: false,
      because: 'if_expr is false',
      executions: [],
      condition: {
        terms: [
          { source: 'tool_name == "exec"', holds: true },
          { join: 'and', source: 'size(tool_input.cmd) > 80', holds: false, value: '2' },
        ],
      },
    })
    await gateway().call('DELETE', `/v1/hooks/${hookId}`)
  })

  test('GC-107 4.9 #133 the rows of a hook that is deleted stay, without its id', async () => {
    const { row, eventId } = await rowsAfter({ handler_type: 'function', config: { name: 'pass' } })
    const { body } = await gateway().call('GET', `/v1/executions?eventId=${eventId}`)
    expect(body.executions).toContainEqual({ ...row, hook_id: null, hook_name: null })
    expect((await gateway().call('POST', '/v1/audit/verify', {})).body).toMatchObject({ ok: true })
  })
})
