import { describe, expect, test } from 'vitest'
import {
  boom,
  hostWith,
  message,
  messageCtx,
  on,
  prompt,
  toolCtx,
  toolEvent,
} from '../../test/openclaw/plugins.fixture.ts'
import { createHookRunner } from './runner.ts'

const session = { sessionId: 's' }

describe('the registry', () => {
  test('OC-1 a hook that is registered after the runner was made is run', async () => {
    const { registry, runner } = hostWith([])
    registry.typedHooks.push(on('before_model_resolve', () => ({ modelOverride: 'late' })))
    expect(await runner.runBeforeModelResolve({ prompt: 'hi' }, {})).toMatchObject({ modelOverride: 'late' })
  })

  test('OC-1 a hook that was taken out is no longer run', async () => {
    const { registry, runner } = hostWith([on('before_model_resolve', () => ({ modelOverride: 'gone' }))])
    registry.typedHooks.length = 0
    expect(await runner.runBeforeModelResolve({ prompt: 'hi' }, {})).toBeUndefined()
  })

  test('OC-3 higher priorities run first, a missing one is 0, ties keep their order', async () => {
    const order: string[] = []
    const push = (id: string, priority?: number) =>
      on('before_reset', () => order.push(id), priority === undefined ? {} : { priority })
    const { runner } = hostWith([push('a', 0), push('low', -1), push('b'), push('c', 0), push('high', 10)])
    await runner.runBeforeReset({}, {})
    expect(order).toEqual(['high', 'a', 'b', 'c', 'low'])
  })

  test('OC-14 hasHooks and getHookCount count what is registered for a name now', () => {
    const { registry, runner } = hostWith([on('session_end', () => {}), on('session_end', () => {})])
    expect([runner.hasHooks('session_end'), runner.getHookCount('session_end')]).toEqual([true, 2])
    expect([runner.hasHooks('session_start'), runner.getHookCount('session_start')]).toEqual([false, 0])
    registry.typedHooks.pop()
    expect(runner.getHookCount('session_end')).toBe(1)
  })

  test('OC-13 without a handler every kind of hook answers undefined at once, and says nothing', async () => {
    const { runner, log } = hostWith([])
    expect(await runner.runSessionStart(session, session)).toBeUndefined()
    expect(await runner.runBeforeToolCall(toolEvent, toolCtx)).toBeUndefined()
    expect(await runner.runBeforeAgentRun(prompt, {})).toBeUndefined()
    expect(await runner.runBeforeAgentReply({ cleanedBody: 'hi' }, {})).toBeUndefined()
    expect(runner.runToolResultPersist({ message: {} }, {})).toBeUndefined()
    expect(runner.runBeforeMessageWrite({ message: {} }, {})).toBeUndefined()
    expect(log).toEqual([])
  })
})

describe('the options', () => {
  test('OC-2 a runner needs none of them', async () => {
    const { registry } = hostWith([
      on('message_sending', boom),
      on('message_sending', () => ({ content: 'x' })),
    ])
    expect(await createHookRunner(registry).runMessageSending(message, messageCtx)).toEqual({ content: 'x' })
  })

  test('OC-2 a logger without debug is enough', async () => {
    const errors: string[] = []
    const logger = { warn: () => {}, error: (line: string) => errors.push(line) }
    const { runner } = hostWith([on('message_sending', boom)], { logger })
    await runner.runMessageSending(message, messageCtx)
    expect(errors).toEqual(['[hooks] message_sending handler from plugin failed: boom'])
  })

  test('OC-4 a failure is logged and passed over while errors are caught and the hook fails open', async () => {
    const { runner, log } = hostWith([
      on('before_tool_call', boom, { pluginId: 'bad', priority: 1 }),
      on('before_tool_call', () => ({ params: { ok: true } })),
    ])
    expect(await runner.runBeforeToolCall(toolEvent, toolCtx)).toMatchObject({ params: { ok: true } })
    expect(log).toContain('error [hooks] before_tool_call handler from bad failed: boom')
  })

  test.each([
    ['errors are not caught', { catchErrors: false }],
    ['the hook fails closed', { failurePolicyByHook: { before_tool_call: 'fail-closed' } }],
  ] as const)('OC-4 a failure is thrown with its cause when %s', async (_, options) => {
    const cause = new Error('boom')
    const thrower = on('before_tool_call', () => Promise.reject(cause))
    const { runner, log } = hostWith([thrower], options)
    const thrown = await runner.runBeforeToolCall(toolEvent, toolCtx).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(Error)
    expect(thrown).toMatchObject({
      name: 'Error',
      message: '[hooks] before_tool_call handler from plugin failed: boom',
      cause,
    })
    expect(log.filter((line) => line.startsWith('error'))).toEqual([])
  })

  test('OC-5 before_agent_run fails closed, everything else open', async () => {
    const { runner } = hostWith([on('before_agent_run', boom), on('before_install', boom)])
    await expect(runner.runBeforeAgentRun(prompt, {})).rejects.toThrow('before_agent_run handler from plugin')
    const install = {} as Parameters<typeof runner.runBeforeInstall>[0]
    const ctx = { targetType: 'skill', requestKind: 'skill-install' } as const
    expect(await runner.runBeforeInstall(install, ctx)).toBeUndefined()
  })

  test('OC-5 the caller may open even before_agent_run', async () => {
    const policy = { before_agent_run: 'fail-open' } as const
    const { runner, log } = hostWith([on('before_agent_run', boom)], { failurePolicyByHook: policy })
    expect(await runner.runBeforeAgentRun(prompt, {})).toBeUndefined()
    expect(log).toContain('error [hooks] before_agent_run handler from plugin failed: boom')
  })

  test('OC-6 a host closes before_tool_call by its own policy map', async () => {
    const policy = { before_tool_call: 'fail-closed' } as const
    const { runner } = hostWith([on('before_tool_call', boom), on('before_agent_run', boom)], {
      failurePolicyByHook: policy,
    })
    await expect(runner.runBeforeToolCall(toolEvent, toolCtx)).rejects.toThrow('failed: boom')
    await expect(runner.runBeforeAgentRun(prompt, {})).rejects.toThrow('failed: boom')
  })
})

describe('what is logged', () => {
  test('OC-12 each way of running has its own line', async () => {
    const { runner, log } = hostWith([
      on('session_start', () => {}),
      on('session_start', () => {}),
      on('before_prompt_build', () => {}),
      on('inbound_claim', () => {}, { pluginId: 'p' }),
    ])
    await runner.runSessionStart(session, session)
    await runner.runBeforePromptBuild(prompt, {})
    await runner.runInboundClaim({ content: 'hi', channel: 'forum', isGroup: true }, messageCtx)
    expect(log).toEqual([
      'debug [hooks] running session_start (2 handlers)',
      'debug [hooks] running before_prompt_build (1 handlers, sequential)',
      'debug [hooks] running inbound_claim (1 handlers, first-claim wins)',
    ])
  })

  test.each([
    ['before_tool_call', { block: true }, 'block=true'],
    ['before_install', { block: true }, 'block=true'],
    ['message_sending', { cancel: true }, 'cancel=true'],
    ['before_agent_run', { outcome: 'block', reason: 'no' }, 'gate-decision'],
  ] as const)('OC-12 the line that %s was decided names plugin and priority', async (name, answer, label) => {
    const { runner, log } = hostWith([
      on(name, () => answer, { pluginId: 'guard', priority: 7 }),
      on(name, boom),
    ])
    const runs = {
      before_tool_call: () => runner.runBeforeToolCall(toolEvent, toolCtx),
      before_install: () => runner.runBeforeInstall({} as never, {} as never),
      message_sending: () => runner.runMessageSending(message, messageCtx),
      before_agent_run: () => runner.runBeforeAgentRun(prompt, {}),
    }
    await runs[name]()
    expect(log).toEqual([
      `debug [hooks] running ${name} (2 handlers, sequential)`,
      `debug [hooks] ${name} ${label} decided by guard (priority=7); skipping remaining handlers`,
    ])
  })

  test('OC-12 a missing priority is logged as 0', async () => {
    const { runner, log } = hostWith([on('message_sending', () => ({ cancel: true }))])
    await runner.runMessageSending(message, messageCtx)
    expect(log.at(-1)).toContain('(priority=0)')
  })
})

describe('what handlers get', () => {
  test('OC-15 the event and context themselves: what one handler changes, the next one sees', async () => {
    const event = { toolName: 'exec', params: { command: 'ls' } as Record<string, unknown> }
    const ctx = { toolName: 'exec' }
    const seen: unknown[] = []
    const { runner } = hostWith([
      on('before_tool_call', (given) => {
        given.params.marked = true
      }),
      on('before_tool_call', (given, context) => seen.push(given, context, given.params.marked)),
    ])
    await runner.runBeforeToolCall(event, ctx)
    expect(seen[0]).toBe(event)
    expect(seen[1]).toBe(ctx)
    expect(seen[2]).toBe(true)
    expect(Object.isFrozen(event.params)).toBe(false)
  })

  test('OC-72 the run id of the context reaches agent_end, before_agent_start and before_agent_finalize', async () => {
    const seen: unknown[] = []
    const see = (event: unknown) => {
      seen.push(event)
    }
    const { runner } = hostWith([
      on('agent_end', see),
      on('before_agent_start', see),
      on('before_agent_finalize', see),
    ])
    const ctx = { runId: 'run-1' }
    const end = { messages: [], success: true }
    await runner.runAgentEnd(end, ctx)
    await runner.runBeforeAgentStart({ prompt: 'hi' }, ctx)
    await runner.runBeforeAgentFinalize({ sessionId: 's', stopHookActive: false }, ctx)
    expect(seen).toEqual([
      { messages: [], success: true, runId: 'run-1' },
      { prompt: 'hi', runId: 'run-1' },
      { sessionId: 's', stopHookActive: false, runId: 'run-1' },
    ])
    expect(end).toEqual({ messages: [], success: true })
  })

  test('OC-72 an event that has a run id keeps it, and without one in the context it is left alone', async () => {
    const seen: unknown[] = []
    const { runner } = hostWith([on('agent_end', (event) => seen.push(event))])
    const own = { runId: 'own', messages: [], success: true }
    const none = { messages: [], success: true }
    await runner.runAgentEnd(own, { runId: 'run-1' })
    await runner.runAgentEnd(none, {})
    expect(seen[0]).toBe(own)
    expect(seen[1]).toBe(none)
  })

  test('OC-72 other hooks get no run id', async () => {
    const seen: unknown[] = []
    const { runner } = hostWith([on('before_prompt_build', (event) => void seen.push(event))])
    await runner.runBeforePromptBuild(prompt, { runId: 'run-1' })
    expect(seen).toEqual([prompt])
  })
})
