import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { running } from '../gateway/running.fixture.ts'

const deny = {
  event: 'pre_tool_use',
  handler_type: 'script',
  config: {
    source: `function handle({ tool_input }) {
      return /rm/.test(tool_input.command) ? { decision: 'block', reason: 'no deletions' } : { decision: 'allow' }
    }`,
  },
}

/** Far less than the 30 s of the typed client and the 60 s of coding agents, and far more than the gateway needs. */
const BUDGET_MS = 10_000

/** Another process holds the write lock of the gateway's database for so long while events arrive. */
export function writeLock(ms: number): void {
  test(`gates answer within their budget while another process holds the write lock for ${ms / 1_000} s, and no answered event is lost`, async () => {
    const gateway = await running()
    await gateway.hook(deny)
    const file = join(gateway.home, 'hookhelm.db')
    const holder = fork(join(import.meta.dirname, 'lock-holder.ts'), [file, String(ms)])
    const gone = once(holder, 'exit')
    await once(holder, 'message')
    const ask = async (n: number) => {
      const at = performance.now()
      const command = n % 2 === 0 ? 'rm -rf build' : 'ls'
      const key = n % 5 === 0 ? { idempotency_key: `key-${n}` } : {}
      const payload = { tool_name: 'Bash', tool_input: { command } }
      const { status, body } = await gateway.dispatch('pre_tool_use', payload, key)
      const answer = status === 200 ? body.decision.kind : body.error.details.code
      return { n, answer, id: body.event_id, took: performance.now() - at }
    }
    const asked: ReturnType<typeof ask>[] = []
    for (let n = 0; holder.exitCode === null; n++) {
      asked.push(ask(n))
      await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, ms / 100))])
    }
    const answers = await Promise.all(asked)
    for (const { n, answer } of answers) {
      // A call that must be answered once is refused while that cannot be kept; every other is decided.
      const right = n % 2 === 0 ? 'block' : 'allow'
      expect([n, answer]).toEqual([n, n % 5 === 0 ? expect.toBeOneOf([right, 'store.unavailable']) : right])
    }
    const times = answers.map(({ took }) => took).sort((a, b) => a - b)
    const [median = 0, slowest = 0] = [times[times.length >> 1], times.at(-1)]
    process.stdout.write(
      `${times.length} gates: median ${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms\n`,
    )
    expect(slowest).toBeLessThan(BUDGET_MS)
    for (const { id } of answers.filter(({ answer }) => answer !== 'store.unavailable'))
      await gateway.until(
        () => gateway.call('GET', `/v1/events/${id}`),
        ({ status }) => status === 200,
      )
  }, 600_000)
}
