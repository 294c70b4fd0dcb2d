import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { running } from '../gateway/running.fixture.ts'
import { failedTool, rulesOf } from './recovery.fixture.ts'

const HANG = 300_000
const FAILURES = 10_000
const AT_ONCE = 100
const COOLDOWN_MS = 3_000

/** What is in use, without garbage. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  return process.memoryUsage().heapUsed
}

test(
  '10000 failures fire a rule once per cooldown, with flat memory, and every other one is recorded as skipped',
  async () => {
    const gateway = await running()
    const { switchOn, rule, team, firings, mailbox } = rulesOf(gateway)
    await switchOn({ rate_limit: { per_second: 100_000, burst: 100_000 } })
    await team('ops', [{ name: 'ada' }])
    await rule({
      id: 'tell',
      trigger: { event: 'PostToolUseFailure' },
      cooldownMs: COOLDOWN_MS,
      actions: [{ type: 'notify_team', teamName: 'ops' }],
    })
    const heapAfter: number[] = []
    const begun = performance.now()
    for (let sent = 0; sent < FAILURES; sent += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, (_, n) =>
        gateway.dispatch('post_tool_use_failure', { ...failedTool, error: `failure ${sent + n}` }),
      )
      await Promise.all(batch)
      if (sent % 2_500 === 0) heapAfter.push(heapInUse())
    }
    const waiting = async () => (await gateway.call('GET', '/v1/deliveries?limit=1')).body.deliveries.length
    await gateway.until(waiting, (count) => count === 0)
    const tookMs = performance.now() - begun
    const times = (await firings('?limit=200')).map(({ created_at }) => created_at).toReversed()
    const gaps = times.slice(1).map((time, index) => time - times[index])
    expect(gaps.filter((gap) => gap < COOLDOWN_MS)).toEqual([])
    expect(times.length).toBeGreaterThan(1)
    expect(times.length).toBeLessThanOrEqual(Math.ceil(tookMs / COOLDOWN_MS) + 1)
    expect(await mailbox('?limit=200')).toHaveLength(times.length)
    // Records become rows a little later.
    await gateway.until(countSkipped, (count) => count === FAILURES - times.length)
    // The gateway, its rows in the page cache, and this test share the heap.
    const [first = 0] = heapAfter
    expect((heapAfter.at(-1) ?? 0) - first).toBeLessThan(32 * 1_048_576)

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
