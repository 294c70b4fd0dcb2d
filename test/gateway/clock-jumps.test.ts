import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type FakeClock, fakeClock } from '../../src/testing/index.ts'
import { failedTool, rulesOf } from '../rules/recovery.fixture.ts'
import { running } from './running.fixture.ts'

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
const START = Date.UTC(2026, 5, 1)
const call = { tool_name: 'Bash', tool_input: {} }

function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-clock-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return home
}

/** Opens a gateway with a hook that counts, and closes it with `end`. */
async function countingGateway(home: string, clock: FakeClock) {
  let fired = 0
  const functions = { count: () => void fired++ }
  const gateway = await running({ home, clock, functions, socket: false })
  return { gateway, fired: () => fired, dispatch: () => gateway.dispatch('pre_tool_use', call) }
}

const cooling = {
  event: 'pre_tool_use',
  handler_type: 'function',
  cooldown_ms: 60_000,
  config: { name: 'count' },
}

test.each([-HOUR_MS, YEAR_MS, -YEAR_MS])(
  'a cooldown takes its minute though the wall clock is set by %d ms',
  async (jump) => {
    const clock = fakeClock(START)
    const { gateway, fired, dispatch } = await countingGateway(temporaryHome(), clock)
    await gateway.hook(cooling)
    await dispatch()
    clock.jump(jump)
    await dispatch()
    clock.stall(59_999)
    await dispatch()
    expect(fired()).toBe(1)
    clock.stall(1)
    await dispatch()
    expect(fired()).toBe(2)
  },
)

test('a cooldown that began while the clock was a year ahead lasts a minute after the restart', async () => {
  const home = temporaryHome()
  const ahead = await countingGateway(home, fakeClock(START + YEAR_MS))
  await ahead.gateway.hook(cooling)
  await ahead.dispatch()
  expect(ahead.fired()).toBe(1)
  await ahead.gateway.end()
  const clock = fakeClock(START)
  const right = await countingGateway(home, clock)
  await right.dispatch()
  expect(right.fired()).toBe(0)
  clock.stall(60_000)
  await right.dispatch()
  expect(right.fired()).toBe(1)
})

test.each([-HOUR_MS, YEAR_MS])(
  'the cooldown of a rule takes its minute though the wall clock is set by %d ms',
  async (jump) => {
    const clock = fakeClock(START)
    const gateway = await running({ home: temporaryHome(), clock, socket: false })
    const { switchOn, rule, audited } = rulesOf(gateway)
    await switchOn()
    await rule({
      ...{ id: 'cooling', trigger: { event: 'PostToolUseFailure' } },
      ...{ cooldownMs: 60_000, dedupWindowMs: 0, actions: [{ type: 'notify_team' }] },
    })
    /** What the audit log says about the rule after one more failure. */
    const fail = async () => {
      const { body } = await gateway.dispatch('post_tool_use_failure', failedTool)
      const [row] = await gateway.until(
        () => audited(body.event_id),
        (rows) => rows.length > 0,
      )
      return row.metadata.reason
    }
    const fired = 'No team context is available for notify_team action'
    expect(await fail()).toBe(fired)
    clock.jump(jump)
    expect(await fail()).toBe('rule cooldown active for 60000ms')
    clock.stall(59_999)
    expect(await fail()).toBe('rule cooldown active for 1ms')
    clock.stall(1)
    expect(await fail()).toBe(fired)
  },
)

const onlyRunner = {
  ...{ hostname: 'h', project_dir: '/w', executor_profile: 'p' },
  executor: { type: 'autonomous' },
}

test.each([-HOUR_MS, YEAR_MS])(
  'a runner is alive for one lease after it was seen though the wall clock is set by %d ms',
  async (jump) => {
    const clock = fakeClock(START)
    const gateway = await running({ home: temporaryHome(), clock, socket: false, runs: { leaseMs: 9_000 } })
    const register = async () => (await gateway.call('POST', '/runner/register', onlyRunner)).status
    expect(await register()).toBe(200)
    clock.jump(jump)
    clock.stall(8_999)
    expect(await register()).toBe(409)
    clock.stall(1)
    expect(await register()).toBe(200)
  },
)

test('a webhook that waits since the clock was a year ahead is delivered within the hour', async () => {
  const home = temporaryHome()
  let status = 429
  let received = 0
  const server = createServer((request, response) => {
    received += 1
    request.resume()
    response.writeHead(status).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const options = { home, socket: false, outbound: { allow: ['127.0.0.1'] } } as const
  const ahead = await running({ ...options, clock: fakeClock(START + YEAR_MS) })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await ahead.hook({ event: 'session_end', handler_type: 'http', config: { url } })
  await ahead.dispatch('session_end', { reason: 'exit' })
  const states = async () =>
    (await ahead.call('GET', '/v1/deliveries')).body.deliveries.map(({ state }: { state: string }) => state)
  await ahead.until(states, (found) => received === 1 && found.join() === 'waiting')
  await ahead.end()
  status = 200
  const clock = fakeClock(START)
  const right = await running({ ...options, clock })
  await right.until(
    async () => right.logged.map(({ name }) => name),
    (names) => names.includes('gateway.clock_was_ahead'),
  )
  clock.stall(HOUR_MS)
  await right.until(
    async () => {
      await clock.advance(1_000)
      return received
    },
    (count) => count === 2,
  )
})
