import { describe, expect, test } from 'vitest'
import { gateway, openclaw, place, type Wire } from './plugins.fixture.ts'

const ctx = { agentId: 'main', sessionKey: 'agent:main:main', sessionId: 'uuid-1', runId: 'run-1' }
const call = { toolName: 'exec', params: { command: 'ls' }, toolCallId: 'call_1' }

async function started(answer: (wire: Wire) => void = (wire) => wire.reply({}), more: object = {}) {
  const where = place('openclaw', more)
  const server = await gateway(where, (_, wire) => answer(wire))
  return { where, server, ...(await openclaw(where)) }
}

describe('a tool call', () => {
  test('goes on when there is no objection', async () => {
    const { handlers, server } = await started()
    expect(await handlers.before_tool_call?.(call, ctx)).toBeUndefined()
    expect(server.hellos).toEqual([{ hookhelm: 1, agent: 'openclaw', pid: process.pid }])
    expect(server.asked).toMatchObject([
      { event: 'before_tool_call', native: { event: call, ctx, session: 'uuid-1' } },
    ])
  })

  test('is refused with the reason', async () => {
    const { handlers } = await started((wire) => wire.reply({ block: 'not here' }))
    expect(await handlers.before_tool_call?.(call, ctx)).toEqual({ block: true, blockReason: 'not here' })
  })

  test('runs with other arguments', async () => {
    const { handlers } = await started((wire) => wire.reply({ args: { command: 'true' } }))
    expect(await handlers.before_tool_call?.(call, ctx)).toEqual({ params: { command: 'true' } })
  })

  test('is asked about in the dialog of the host, for this once', async () => {
    const { handlers } = await started((wire) => wire.reply({ ask: 'a deploy?', args: { command: 'true' } }))
    expect(await handlers.before_tool_call?.(call, ctx)).toEqual({
      params: { command: 'true' },
      requireApproval: {
        title: 'Hookhelm: exec',
        description: 'a deploy?',
        severity: 'warning',
        allowedDecisions: ['allow-once', 'deny'],
      },
    })
  })

  test.each<[string, (wire: Wire) => void]>([
    ['garbage', (wire) => wire.raw('nonsense\n')],
    ['the end', (wire) => wire.socket.end()],
    ['an unfinished line', (wire) => wire.socket.end('{"id":1,"reply":{}}')],
    ['a part that nobody carries out here', (wire) => wire.reply({ output: {} })],
    ['an error', (wire) => wire.line({ id: 1, error: { code: 'x', message: 'too busy' } })],
    ['silence', () => {}],
  ])('no clear answer refuses it: %s', async (name, answer) => {
    const { handlers, where } = await started(answer, name === 'silence' ? { within: 40 } : {})
    expect(await handlers.before_tool_call?.(call, ctx)).toEqual({
      block: true,
      blockReason: expect.stringMatching(/^hookhelm: [^\n]+$/),
    })
    expect(where.spooled()).toMatchObject([{ agent: 'openclaw', event: 'before_tool_call', blocked: true }])
  })

  test('nobody listens', async () => {
    const { handlers } = await openclaw(place('openclaw'))
    expect(await handlers.before_tool_call?.(call, ctx)).toMatchObject({ block: true })
    expect(await handlers.before_agent_run?.({ prompt: 'hi' }, ctx)).toMatchObject({ outcome: 'block' })
  })

  test('fail-open is a choice', async () => {
    const where = place('openclaw', { failOpen: true })
    const { handlers } = await openclaw(where)
    expect(await handlers.before_tool_call?.(call, ctx)).toBeUndefined()
    expect(where.spooled()).toMatchObject([{ opened: true }])
  })
})

describe('a prompt', () => {
  const prompt = { prompt: 'say hi', messages: [{ role: 'user' }] }
  const run = { prompt: 'say hi\n\nit is Friday', messages: [], systemPrompt: 'You are' }

  test('is asked about once, and gets more words', async () => {
    const { handlers, server } = await started((wire) => wire.reply({ context: 'it is Friday' }))
    expect(await handlers.before_prompt_build?.(prompt, ctx)).toEqual({ appendContext: 'it is Friday' })
    expect(await handlers.before_agent_run?.(run, ctx)).toBeUndefined()
    expect(server.asked.map(({ event, native }) => [event, native.event])).toEqual([
      ['before_prompt_build', { prompt: 'say hi' }],
    ])
  })

  test('that is refused is stopped when the run begins, whatever became of it', async () => {
    const { handlers } = await started((wire) => wire.reply({ block: 'no secrets' }))
    const refused = { outcome: 'block', reason: 'no secrets', message: 'no secrets' }
    expect(await handlers.before_prompt_build?.(prompt, ctx)).toBeUndefined()
    expect(await handlers.before_agent_run?.({ prompt: 'other words' }, ctx)).toEqual(refused)
    expect(await handlers.before_agent_run?.(run, { ...ctx, runId: 'run-2' })).toEqual(refused)
  })

  test('that nobody asked about yet is asked about when the run begins', async () => {
    const { handlers, server } = await started()
    await handlers.before_prompt_build?.(prompt, ctx)
    await handlers.before_agent_run?.({ prompt: 'another one' }, ctx)
    await handlers.before_agent_run?.({ prompt: 'say hi' }, ctx)
    await handlers.before_prompt_build?.(prompt, {})
    await handlers.before_agent_run?.({ prompt: 'say hi' }, {})
    expect(server.asked.map(({ event }) => event)).toEqual([
      'before_prompt_build',
      'before_agent_run',
      'before_agent_run',
      'before_prompt_build',
      'before_agent_run',
    ])
  })

  test('without an answer is refused, and that is kept once', async () => {
    const { handlers, where } = await started((wire) => wire.raw('nonsense\n'))
    expect(await handlers.before_prompt_build?.(prompt, ctx)).toBeUndefined()
    expect(await handlers.before_agent_run?.(run, ctx)).toMatchObject({ outcome: 'block' })
    expect(where.spooled()).toMatchObject([{ event: 'before_prompt_build', blocked: true }])
  })
})

describe('results and ends', () => {
  const result = { content: [{ type: 'text', text: 'secret' }], details: { status: 'completed' } }
  const done = { toolCallId: 'call_1', toolName: 'exec', args: { command: 'ls' }, result }

  test('a result is changed before the model reads it', async () => {
    const { handlers } = await started((wire) => wire.reply({ output: { content: [] } }))
    expect(await handlers.agent_tool_result?.(done, ctx)).toEqual({
      result: { content: [], details: { status: 'completed' } },
    })
  })

  test('a result without an answer stays, and the event is kept', async () => {
    const { handlers, where } = await started((wire) => wire.raw('nonsense\n'))
    expect(await handlers.agent_tool_result?.(done, ctx)).toBeUndefined()
    expect(where.spooled()).toMatchObject([{ event: 'agent_tool_result' }])
    expect(where.spooled()[0]).not.toHaveProperty('blocked')
  })

  test('a call is told once: with its result, or afterwards', async () => {
    const { handlers, server } = await started()
    const after = (toolCallId: string) => handlers.after_tool_call?.({ ...call, toolCallId }, ctx)
    await handlers.before_tool_call?.({ toolName: 'tool_call', params: {}, toolCallId: 'outer' }, ctx)
    await handlers.agent_tool_result?.(done, ctx)
    for (const id of ['call_1', 'tool_search_code:outer:web_fetch:1', 'call_2', 'tool_search_code:x:y:1'])
      await after(id)
    await handlers.gateway_stop?.({}, {})
    const told = server.asked.filter(({ event }) => event === 'after_tool_call')
    expect(told.map(({ native }) => native.event.toolCallId)).toEqual(['call_2', 'tool_search_code:x:y:1'])
  })

  test('a call is told once, although the host loads the plugin several times', async () => {
    const { handlers, server, where } = await started()
    const other = await openclaw(where)
    await other.handlers.agent_tool_result?.(done, ctx)
    handlers.after_tool_call?.(call, ctx)
    await handlers.gateway_stop?.({}, {})
    expect(server.asked.map(({ event }) => event)).toEqual(['agent_tool_result', 'gateway_stop'])
  })

  test('a call that we refused is not told as one that failed', async () => {
    const { handlers, server } = await started((wire) => wire.reply({ block: 'no' }))
    await handlers.before_tool_call?.(call, ctx)
    await handlers.after_tool_call?.(call, ctx)
    await handlers.gateway_stop?.({}, {})
    expect(server.asked.map(({ event }) => event)).toEqual(['before_tool_call', 'gateway_stop'])
  })

  test('an agent that is not done goes on', async () => {
    const { handlers } = await started((wire) => wire.reply({ block: 'the tests fail' }))
    const event = { sessionId: 'uuid-1', stopHookActive: false, messages: [] }
    expect(await handlers.before_agent_finalize?.(event, ctx)).toEqual({
      action: 'revise',
      reason: 'the tests fail',
      retry: { instruction: 'the tests fail', maxAttempts: 8 },
    })
  })

  test('an agent ends when nobody answers', async () => {
    const where = place('openclaw')
    const { handlers } = await openclaw(where)
    expect(await handlers.before_agent_finalize?.({ stopHookActive: false }, ctx)).toBeUndefined()
    expect(where.spooled()).toMatchObject([{ event: 'before_agent_finalize' }])
  })
})

test('the configuration of the host is not told, and neither is the whole conversation', async () => {
  const { handlers, server } = await started()
  const secrets = {
    config: { apiKey: 'SECRET' },
    abortSignal: new AbortController().signal,
    getCron: () => 1,
  }
  handlers.gateway_start?.({ port: 1 }, { ...secrets, port: 1 })
  handlers.agent_end?.({ success: true, messages: [{ content: 'SECRET' }] }, { ...ctx, ...secrets })
  await handlers.gateway_stop?.({}, secrets)
  await expect.poll(() => server.asked.length).toBe(3)
  expect(JSON.stringify(server.asked)).not.toContain('SECRET')
})

test('a sub-agent is known by the session that everything began with', async () => {
  const { handlers, server } = await started()
  const child = { childSessionKey: 'agent:main:subagent:1', agentId: 'main', mode: 'run', runId: 'r' }
  await handlers.before_tool_call?.(call, ctx)
  handlers.subagent_spawned?.(child, { requesterSessionKey: ctx.sessionKey })
  await handlers.before_tool_call?.(call, { sessionKey: child.childSessionKey, sessionId: 'uuid-2' })
  handlers.subagent_ended?.(
    { targetSessionKey: child.childSessionKey },
    { requesterSessionKey: ctx.sessionKey },
  )
  await handlers.gateway_stop?.({}, {})
  expect(server.asked.map(({ native }) => [native.session, native.sub])).toEqual([
    ['uuid-1', undefined],
    ['uuid-1', undefined],
    ['uuid-2', { root: 'uuid-1', parent: ctx.sessionKey, lane: child.childSessionKey }],
    ['uuid-1', undefined],
    [undefined, undefined],
  ])
})

test('what comes very often is told only when asked for', async () => {
  expect((await started()).handlers).not.toHaveProperty('llm_input')
  const { handlers, server } = await started(undefined, { chatty: true })
  expect(handlers.tool_result_persist?.({ message: { role: 'toolResult' } }, ctx)).toBeUndefined()
  await expect.poll(() => server.asked.length).toBe(1)
})

test('the host waits a little longer than we do, and one that knows fewer hooks still has its gates', async () => {
  const { handlers, options } = await openclaw(place('openclaw'), ['before_install', 'cron_changed'])
  expect(options.before_tool_call).toEqual({ timeoutMs: 7_000 })
  expect(Object.keys(handlers)).toEqual(expect.arrayContaining(['before_tool_call', 'agent_tool_result']))
  expect(handlers).not.toHaveProperty('cron_changed')
})
