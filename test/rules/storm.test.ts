import { expect, test } from 'vitest'
import { running } from '../gateway/running.fixture.ts'
import { failedTool, rulesOf } from './recovery.fixture.ts'

const HANG = 300_000
const FAILURES = 10_000
const AT_ONCE = 100

test(
  '10000 failures fire a rule once per cooldown, and every other one is recorded as skipped',
  async () => {
    const gateway = await running()
    const { switchOn, rule, team, firings, mailbox } = rulesOf(gateway)
    await switchOn({ rate_limit: { per_second: 100_000, burst: 100_000 } })
    await team('ops', [{ name: 'ada' }])
    await rule({
      id: 'once',
      trigger: { event: 'PostToolUseFailure' },
      cooldownMs: 3_600_000,
      actions: [{ type: 'notify_team', teamName: 'ops' }],
    })
    const heapAfter: number[] = []
    for (let sent = 0; sent < FAILURES; sent += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, (_, n) =>
        gateway.dispatch('post_tool_use_failure', { ...failedTool, error: `failure ${sent + n}` }),
      )
      await Promise.all(batch)
      if (sent % 2_500 === 0) heapAfter.push(process.memoryUsage().heapUsed)
    }
    const waiting = async () => (await gateway.call('GET', '/v1/deliveries?limit=1')).body.deliveries.length
    await gateway.until(waiting, (count) => count === 0)
    expect(await firings()).toHaveLength(1)
    expect(await mailbox()).toHaveLength(1)
    // Records become rows a little later.
    await gateway.until(countSkipped, (count) => count === FAILURES - 1)
    const [first = 0] = heapAfter
    expect((heapAfter.at(-1) ?? 0) - first).toBeLessThan(200 * 1_048_576)

    async function countSkipped(): Promise<number> {
      let count = 0
      for (let cursor = '', isFirst = true; isFirst || cursor !== ''; isFirst = false) {
        const { body } = await gateway.call(
          'GET',
          `/v1/executions?decision=skipped&limit=200&cursor=${cursor}`,
        )
        count += body.executions.length
        cursor = body.nextCursor
      }
      return count
    }
  },
  HANG,
)
