import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gatewayHome, scratchFolder } from '../runs/crash.fixture.ts'
import { runnerProcess, runsOf, untilEnded } from '../runs/runs.fixture.ts'
import { httpReceiver } from './receivers.fixture.ts'
import { rulesOf } from './recovery.fixture.ts'

const HANG = 300_000
/** The killed gateway held leases, and waiting for their end proves nothing here. */
const LEASES_ARE_OVER = "update deliveries set due_at = 0 where state = 'leased'"

test(
  'a gateway that is killed between the trigger and the actions does each action once after its restart',
  async () => {
    const home = gatewayHome()
    const first = await home.open()
    const { switchOn, rule, team } = rulesOf(first)
    await switchOn()
    await runsOf(first).agent('mends', 'return { mended: true }')
    await team('ops', [{ name: 'ada' }])
    await rule({
      id: 'recover',
      trigger: { event: 'TaskCompleted', outcome: 'failed' },
      actions: [
        { type: 'spawn_fallback_agent', id: 'fallback', agentType: 'mends' },
        { type: 'notify_team', id: 'tell', teamName: 'ops' },
      ],
    })
    const event = {
      event: 'task_completed',
      payload: { task_id: '1' },
      envelope: { outcome: 'failed', id: 'task-1' },
    }
    expect((await first.call('POST', '/v1/dispatch', event)).status).toBe(200)
    // The answer says that the trigger is on disk; its actions have not ended.
    await first.kill()
    await home.execute(LEASES_ARE_OVER)
    const second = await home.open()
    await runnerProcess(second)
    const after = rulesOf(second)
    const [firing] = await after.settled(1)
    expect(firing.actions).toMatchObject([{ status: 'executed' }, { status: 'executed' }])
    expect(await untilEnded(second, firing.actions[0].run_id)).toMatchObject({ status: 'completed' })
    // The same event again is the same cause, also after the restart.
    await second.call('POST', '/v1/dispatch', event)
    await second.call('POST', '/v1/dispatch', { ...event, envelope: { outcome: 'failed', id: 'task-2' } })
    const skipped = await second.until(
      async () => (await after.ok('GET', '/v1/executions?decision=skipped&limit=50')).executions,
      (rows) => rows.length === 2,
    )
    // The cooldown was armed before the crash and survived it.
    expect(skipped[0]).toMatchObject({ code: 'guard.cooldown' })
    expect(await after.firings()).toHaveLength(1)
    expect((await after.ok('GET', '/runs?agent_name=mends')).runs).toHaveLength(1)
    expect(await after.mailbox()).toHaveLength(1)
  },
  HANG,
)

test(
  'a run fails, the gateway is killed between the trigger and the fallback, and after its restart everything happens once',
  async () => {
    const home = gatewayHome()
    const first = await home.open()
    const receiver = await httpReceiver((n) => (n === 1 ? 'silent' : 200))
    const { switchOn, rule, team } = rulesOf(first)
    await switchOn({ allowed_hosts: [receiver.host] })
    await runsOf(first).agent('breaks', 'throw new Error("no ink")')
    await runsOf(first).agent('mends', 'return { mended: true }')
    const channels = [{ type: 'webhook', url: `${receiver.url}/team` }]
    await team('ops', [{ name: 'ada', channels }])
    await rule({
      id: 'recover',
      trigger: { event: 'run_finish', outcome: 'failed' },
      actions: [
        { type: 'call_webhook', config: { url: `${receiver.url}/first` } },
        { type: 'spawn_fallback_agent', id: 'fallback', agentType: 'mends' },
        { type: 'notify_team', id: 'tell', teamName: 'ops' },
      ],
    })
    await runnerProcess(first)
    await runsOf(first).start('breaks')
    // The first action waits for an answer: the rule has fired, and nothing else has begun.
    const [pending] = await first.until(
      () => rulesOf(first).firings(),
      ([firing]) => firing?.actions[0].status === 'started' && receiver.received.length === 1,
    )
    expect(pending.actions.map(({ status }: { status: string }) => status)).toEqual([
      'started',
      'pending',
      'pending',
    ])
    await first.kill()
    await home.execute(LEASES_ARE_OVER)
    const second = await home.open()
    const after = rulesOf(second)
    const [firing] = await after.settled(1)
    expect(firing.firing_id).toBe(pending.firing_id)
    expect(firing.actions).toMatchObject([
      { status: 'executed' },
      { status: 'executed' },
      { status: 'executed' },
    ])
    expect(await untilEnded(second, firing.actions[1].run_id)).toMatchObject({ status: 'completed' })
    await second.until(
      () => after.ok('GET', `/v1/rule-firings/${firing.firing_id}`),
      ({ messages }) => messages[0]?.deliveries[0]?.state === 'done',
    )
    expect(await after.firings()).toHaveLength(1)
    expect((await after.ok('GET', '/runs?agent_name=mends')).runs).toHaveLength(1)
    expect(await after.mailbox()).toHaveLength(1)
    expect(receiver.received.map(({ path }) => path)).toEqual(['/first', '/first', '/team'])
    const [cut, repeated] = receiver.received
    // The receiver can recognise the call that was repeated.
    expect(repeated?.headers['webhook-id']).toBe(cut?.headers['webhook-id'])
  },
  HANG,
)

test(
  'a command that ran when the gateway was killed is not repeated, and the next action runs',
  async () => {
    const home = gatewayHome()
    const [ran, first] = [join(scratchFolder(), 'ran'), await home.open()]
    const { switchOn, rule, team } = rulesOf(first)
    await switchOn()
    await team('ops', [{ name: 'ada' }])
    const code = `require('fs').appendFileSync(${JSON.stringify(ran)}, 'x'); setInterval(() => {}, 1000)`
    await rule({
      id: 'recover',
      trigger: { event: 'task_completed' },
      actions: [
        { type: 'run_command', config: { exec: [process.execPath, '-e', code] } },
        { type: 'notify_team', teamName: 'ops' },
      ],
    })
    await first.call('POST', '/v1/dispatch', { event: 'task_completed', payload: {} })
    await first.until(async () => existsSync(ran), Boolean)
    await first.kill()
    await home.execute(LEASES_ARE_OVER)
    const second = await home.open()
    const [firing] = await rulesOf(second).settled(1)
    expect(firing.actions).toMatchObject([
      { status: 'failed', reason: 'the gateway stopped while the action ran; it is not repeated' },
      { status: 'executed' },
    ])
    expect(readFileSync(ran, 'utf8')).toBe('x')
  },
  HANG,
)
