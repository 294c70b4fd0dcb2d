import { expect, onTestFinished, test } from 'vitest'
import { jsonLog } from '../../src/app/gateway/json-log.ts'
import { badReceiver, fakeClock } from '../../src/testing/index.ts'
import { collector } from './collector.fixture.ts'
import { socketOf, tokenFor } from './doors.fixture.ts'
import { exec } from './judge.fixture.ts'
import { running } from './running.fixture.ts'

test('GC-99 each execution is a span hook.<handler>.<event> below the span of the caller', async () => {
  const receiver = await badReceiver()
  onTestFinished(() => receiver.close())
  const told = await collector()
  const gateway = await running({ env: told.env, outbound: { allow: ['127.0.0.1'] } })
  const good = await gateway.hook({
    event: 'pre_tool_use',
    handler_type: 'http',
    config: { url: `${receiver.origin}/allow` },
    priority: 1,
  })
  const bad = await gateway.hook({
    event: 'pre_tool_use',
    handler_type: 'command',
    config: { command: 'echo it broke >&2; exit 1' },
  })
  const watcher = await gateway.hook({
    event: 'session_end',
    handler_type: 'http',
    config: { url: `${receiver.origin}/fine` },
  })
  const [traceId, spanId] = ['0123456789abcdef'.repeat(2), 'fedcba9876543210']
  const envelope = { traceparent: `00-${traceId}-${spanId}-01` }
  await gateway.dispatch('pre_tool_use', exec('ls'), { envelope })
  const { body } = await gateway.dispatch('session_end', {})
  await gateway.until(
    () => gateway.call('GET', `/v1/executions?hookId=${watcher}`),
    (answer) => answer.body.executions.length === 1,
  )
  await gateway.close()
  const spans = told.spans()
  expect(spans).toHaveLength(3)
  const of = (id: string) => spans.find(({ attributes }) => attributes['hook.id'] === id)
  expect(of(good)).toMatchObject({
    name: 'hook.http.pre_tool_use',
    traceId,
    parentSpanId: spanId,
    attributes: { status: 'completed', 'metadata.decision': 'allow', 'tenant.id': gateway.defaultTenant },
  })
  expect(of(good)?.attributes.duration_ms).toBeGreaterThan(0)
  expect(of(bad)).toMatchObject({
    name: 'hook.command.pre_tool_use',
    traceId,
    parentSpanId: spanId,
    status: { code: 2, message: expect.stringContaining('it broke') },
    attributes: { status: 'error', 'metadata.decision': 'error' },
  })
  // Without a caller's span the event itself is the trace, as its rows say.
  expect(of(watcher)).toMatchObject({
    name: 'hook.http.session_end',
    traceId: body.event_id.replaceAll('-', ''),
  })
})

test('GC-99 a record that is written twice is told as spans once', async () => {
  const told = await collector()
  const gateway = await running({ env: told.env, functions: { pass: () => undefined } })
  await gateway.hook({ event: 'pre_tool_use', handler_type: 'function', config: { name: 'pass' } })
  const envelope = { id: 'the-same' }
  for (let index = 0; index < 2; index++) await gateway.dispatch('pre_tool_use', exec('ls'), { envelope })
  await gateway.close()
  expect(told.spans().map(({ name }) => name)).toEqual(['hook.function.pre_tool_use'])
})

test('4.10 #147 a line break and a level in a logged field stay within one JSON line', async () => {
  const clock = fakeClock()
  const lines: string[] = []
  const gateway = await running({ clock, log: jsonLog((line) => lines.push(line), clock) })
  const name = 'x\n{"level":"info","name":"all is well"}\r\u001b[2K'
  const { token, tokenId } = await tokenFor(gateway, { role: 'viewer', name })
  const socket = await socketOf({ url: gateway.url, token })
  await gateway.call('DELETE', `/v1/tokens/${tokenId}`)
  await gateway.until(
    async () => {
      await clock.advance(500)
      return lines.join('\n')
    },
    (all) => all.includes('security.token_revoked'),
  )
  expect(await socket.closed).toMatchObject({ code: 1008 })
  for (const line of lines) {
    expect([...line].every((character) => character >= ' ')).toBe(true)
    expect(JSON.parse(line)).toMatchObject({ level: expect.stringMatching(/^(?:info|warn)$/) })
  }
  const told = lines.map((line) => JSON.parse(line)).find((line) => line.name === 'security.token_revoked')
  expect(told).toMatchObject({ level: 'warn', token: expect.stringContaining('all is well') })
})

test('4.10 #147 no field of a line passes for its name, level or time', () => {
  const lines: string[] = []
  const log = jsonLog((line) => lines.push(line), fakeClock(1))
  log('security.hook.ssrf_block', { name: 'all is well', level: 'info', time: 0, url: 'x' })
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { name: 'security.hook.ssrf_block', level: 'warn', time: 1, url: 'x' },
  ])
})
