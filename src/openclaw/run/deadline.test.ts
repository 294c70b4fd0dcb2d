import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  hostWith,
  inbound,
  messageCtx,
  never,
  on,
  prompt,
  toolCtx,
  toolEvent,
} from '../../../test/openclaw/plugins.fixture.ts'

const end = { messages: [], success: true }
const slowTool = (timeoutMs?: number) =>
  on('before_tool_call', never, timeoutMs === undefined ? {} : { timeoutMs })

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Whether a run is over after so many milliseconds. */
async function isOver(run: Promise<unknown>, ms: number): Promise<boolean> {
  let over = false
  run.then(
    () => {
      over = true
    },
    () => {
      over = true
    },
  )
  await vi.advanceTimersByTimeAsync(ms)
  return over
}

describe('default limits', () => {
  test('OC-7 OC-32 agent_end is given 30 seconds', async () => {
    const { runner, log } = hostWith([on('agent_end', never)])
    const run = runner.runAgentEnd(end, {})
    expect(await isOver(run, 29_999)).toBe(false)
    expect(await isOver(run, 1)).toBe(true)
    expect(log).toContain('error [hooks] agent_end handler from plugin failed: timed out after 30000ms')
  })

  test('OC-7 OC-23 before_prompt_build is given 15 seconds', async () => {
    const { runner, log } = hostWith([on('before_prompt_build', never)])
    const run = runner.runBeforePromptBuild(prompt, {})
    expect(await isOver(run, 14_999)).toBe(false)
    expect(await isOver(run, 1)).toBe(true)
    expect(await run).toBeUndefined()
    expect(log.at(-1)).toContain('timed out after 15000ms')
  })

  test('OC-7 OC-25 before_agent_run is given 15 seconds, and then is closed', async () => {
    const { runner } = hostWith([on('before_agent_run', never)])
    const run = expect(runner.runBeforeAgentRun(prompt, {})).rejects.toThrow(
      '[hooks] before_agent_run handler from plugin failed: timed out after 15000ms',
    )
    await vi.advanceTimersByTimeAsync(15_000)
    await run
  })

  test('OC-7 all others may take for ever', async () => {
    const { runner } = hostWith([slowTool()])
    expect(await isOver(runner.runBeforeToolCall(toolEvent, toolCtx), 86_400_000)).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('whose limit counts', () => {
  test('OC-8 the one of the registration before the one of the options', async () => {
    const options = { modifyingHookTimeoutMsByHook: { before_tool_call: 50 } }
    const { runner, log } = hostWith([slowTool(20), slowTool()], options)
    expect(await isOver(runner.runBeforeToolCall(toolEvent, toolCtx), 70)).toBe(true)
    expect(log.filter((line) => line.startsWith('error'))).toEqual([
      'error [hooks] before_tool_call handler from plugin failed: timed out after 20ms',
      'error [hooks] before_tool_call handler from plugin failed: timed out after 50ms',
    ])
  })

  test('OC-8 observers have a map of their own', async () => {
    const options = {
      voidHookTimeoutMsByHook: { agent_end: 5 },
      modifyingHookTimeoutMsByHook: { agent_end: 1 },
    }
    const { runner, log } = hostWith([on('agent_end', never)], options)
    expect(await isOver(runner.runAgentEnd(end, {}), 5)).toBe(true)
    expect(log.at(-1)).toContain('timed out after 5ms')
  })

  test('OC-8 claims are limited by the map of the modifying hooks', async () => {
    const options = {
      voidHookTimeoutMsByHook: { inbound_claim: 5 },
      modifyingHookTimeoutMsByHook: { inbound_claim: 40 },
    }
    const { runner, log } = hostWith([on('inbound_claim', never)], options)
    const run = runner.runInboundClaim(inbound, messageCtx)
    expect(await isOver(run, 39)).toBe(false)
    expect(await isOver(run, 1)).toBe(true)
    expect(log.at(-1)).toContain('timed out after 40ms')
  })
})

describe('limits that make no sense', () => {
  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '9' as unknown as number])(
    'OC-9 %s in a registration falls through to the options',
    async (timeoutMs) => {
      const options = { modifyingHookTimeoutMsByHook: { before_tool_call: 30 } }
      const { runner, log } = hostWith([slowTool(timeoutMs)], options)
      expect(await isOver(runner.runBeforeToolCall(toolEvent, toolCtx), 30)).toBe(true)
      expect(log.at(-1)).toContain('timed out after 30ms')
    },
  )

  test('OC-9 fractions are cut off', async () => {
    const { runner, log } = hostWith([slowTool(7.9)])
    expect(await isOver(runner.runBeforeToolCall(toolEvent, toolCtx), 7)).toBe(true)
    expect(log.at(-1)).toContain('timed out after 7ms')
  })

  test('OC-9 half a millisecond is no limit at all, not even the default one', async () => {
    const { runner } = hostWith([on('agent_end', never, { timeoutMs: 0.5 })])
    expect(await isOver(runner.runAgentEnd(end, {}), 60_000)).toBe(false)
  })

  test('OC-9 a 0 in the options takes the default away', async () => {
    const { runner } = hostWith([on('agent_end', never)], { voidHookTimeoutMsByHook: { agent_end: 0 } })
    expect(await isOver(runner.runAgentEnd(end, {}), 60_000)).toBe(false)
  })

  test('OC-9 a limit longer than a timer can count does not fire at once', async () => {
    const { runner } = hostWith([slowTool(2 ** 40)])
    expect(await isOver(runner.runBeforeToolCall(toolEvent, toolCtx), 60_000)).toBe(false)
  })
})

describe('when time is up', () => {
  test('OC-10 the handler goes on, its late answer is not used, and the next one runs', async () => {
    let finished = false
    const slow = on(
      'before_tool_call',
      async () => {
        await new Promise((done) => setTimeout(done, 100))
        finished = true
        return { block: true }
      },
      { timeoutMs: 10, priority: 1 },
    )
    const { runner } = hostWith([slow, on('before_tool_call', () => ({ blockReason: 'second' }))])
    const run = runner.runBeforeToolCall(toolEvent, toolCtx)
    expect(await isOver(run, 10)).toBe(true)
    expect(await run).toEqual({ blockReason: 'second' })
    expect(finished).toBe(false)
    await vi.advanceTimersByTimeAsync(100)
    expect(finished).toBe(true)
  })

  test('OC-10 a closed hook throws the timeout', async () => {
    const options = { failurePolicyByHook: { before_tool_call: 'fail-closed' } } as const
    const { runner } = hostWith([slowTool(10)], options)
    const run = expect(runner.runBeforeToolCall(toolEvent, toolCtx)).rejects.toThrow('timed out after 10ms')
    await vi.advanceTimersByTimeAsync(10)
    await run
  })

  test('OC-10 an answer in time leaves no timer behind', async () => {
    const { runner } = hostWith([on('agent_end', () => 'done'), on('before_prompt_build', () => ({}))])
    await runner.runAgentEnd(end, {})
    await runner.runBeforePromptBuild(prompt, {})
    expect(vi.getTimerCount()).toBe(0)
  })

  test('OC-10 the timer of an observer does not keep the process alive, that of any other does', async () => {
    vi.useRealTimers()
    const set = vi.spyOn(globalThis, 'setTimeout')
    const { runner } = hostWith([on('agent_end', async () => {}), on('before_prompt_build', async () => {})])
    const runs = [runner.runAgentEnd(end, {}), runner.runBeforePromptBuild(prompt, {})]
    const held = set.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())
    set.mockRestore()
    await Promise.all(runs)
    expect(held).toEqual([false, true])
  })
})
