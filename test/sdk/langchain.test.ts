import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { Command, MemorySaver } from '@langchain/langgraph'
import { createAgent, createMiddleware, type ToolRuntime, tool } from 'langchain'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { addContext, ask, block, createHooks, rewrite } from '../../src/index.ts'
import { createHooksMiddleware, type LangChainOptions } from '../../src/sdk/langchain.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { shared } from '../gateway/running.fixture.ts'
import { HttpChatModel } from './chat-model.fixture.ts'
import { answerNext, askingHook, clientOf, clientOfNobody, scriptHook } from './deciders.fixture.ts'
import { fakeOpenAi, type Step } from './fake-openai.fixture.ts'
import { type Marks, marks } from './scratch.fixture.ts'

const write = (name: string) => ({ tool: 'write', input: { name } })
const twice: readonly Step[] = [{ calls: [write('a')] }, { text: 'done' }]

function writing(made: Marks) {
  return tool(({ name }: { name: string }) => made.write(name), {
    name: 'write',
    description: 'Writes a file.',
    schema: z.object({ name: z.string() }),
  })
}

async function prepared(
  decides: LangChainOptions | undefined,
  { steps = twice, failing = false }: { steps?: readonly Step[]; failing?: boolean } = {},
) {
  const made = marks()
  const server = await fakeOpenAi(...steps)
  const broken = tool(
    (): string => {
      throw new Error('disk full')
    },
    { name: 'write', description: 'Fails.', schema: z.object({ name: z.string() }) },
  )
  const agent = createAgent({
    model: new HttpChatModel(server.url),
    tools: [failing ? broken : writing(made)],
    middleware: decides === undefined ? [] : [createHooksMiddleware({ agent: 'clerk', ...decides })],
    checkpointer: new MemorySaver(),
  })
  const config = { configurable: { thread_id: 'thread-1' } }
  const run = (text = 'go') => agent.invoke({ messages: [new HumanMessage(text)] }, config)
  return { made, server, agent, config, run }
}

function toolMessages({ messages }: { messages: readonly unknown[] }) {
  return messages.flatMap((message) =>
    ToolMessage.isInstance(message) ? [{ content: message.content, status: message.status }] : [],
  )
}

describe('with no hook', () => {
  test.each([false, true])(
    'everything is as it would be without us (a tool that fails: %s)',
    async (failing) => {
      const without = await prepared(undefined, { failing })
      const ours = await prepared({ hooks: createHooks() }, { failing })
      const plain = await without.run()
      const withUs = await ours.run()
      expect(ours.server.requests).toEqual(without.server.requests)
      expect(toolMessages(withUs)).toEqual(toolMessages(plain))
      expect(withUs.messages).toHaveLength(plain.messages.length)
      expect(ours.made.has('a')).toBe(!failing)
    },
  )

  test('a call that the schema of the tool refuses goes back to the model', async () => {
    const steps = [{ calls: [{ tool: 'write', input: { name: 7 } }] }, { text: 'done' }]
    const without = await (await prepared(undefined, { steps })).run()
    const withUs = await (await prepared({ hooks: createHooks() }, { steps })).run()
    // A trace of the stack follows, which is another one.
    const told = (result: typeof without) => String(toolMessages(result)[0]?.content).split('\n    at ')[0]
    expect(told(withUs)).toBe(told(without))
    expect(toolMessages(withUs)).toMatchObject([{ status: 'error' }])
  })
})

describe('a tool call', () => {
  test('is told to the hooks once, with where it belongs', async () => {
    const hooks = createHooks()
    const seen: unknown[] = []
    hooks.on('pre_tool_use', (payload, { envelope }) => void seen.push({ payload, envelope }))
    const { run, made } = await prepared({ hooks })
    await run()
    expect(made.has('a')).toBe(true)
    expect(seen).toEqual([
      {
        payload: { tool_name: 'write', tool_input: { name: 'a' }, tool_use_id: 'call_1_0' },
        envelope: {
          host: 'langchain',
          session: 'thread-1',
          agent: 'clerk',
          turn: '1',
          toolCall: 'call_1_0',
        },
      },
    ])
  })

  test('that is blocked does not run, and the model learns why', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => block('policy 7', 'Write nothing.'))
    const { run, made } = await prepared({ hooks })
    const result = await run()
    expect(made.has('a')).toBe(false)
    expect(toolMessages(result)).toEqual([{ content: 'Write nothing.', status: 'error' }])
    expect(result.messages.at(-1)?.content).toBe('done')
  })

  test('runs with the input that hooks made of it', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => rewrite({ name: 'b' }))
    const { run, made } = await prepared({ hooks })
    await run()
    expect([made.has('a'), made.has('b')]).toEqual([false, true])
  })

  test('hooks may change its result and add to it', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => addContext('first'))
    hooks.on('post_tool_use', { transform: true }, ({ tool_response }) => ({
      kind: 'allow',
      input: String(tool_response).toUpperCase(),
      context: 'second',
    }))
    const { run } = await prepared({ hooks })
    expect(toolMessages(await run())).toMatchObject([{ content: 'WROTE A\n\nfirst\nsecond' }])
  })

  test('also inside a command to the graph', async () => {
    const hooks = createHooks()
    hooks.on('post_tool_use', { transform: true }, () => rewrite('changed'))
    const server = await fakeOpenAi(...twice)
    const commanding = tool(
      (_, { toolCallId }: ToolRuntime) =>
        new Command({
          update: { messages: [new ToolMessage({ content: 'secret', tool_call_id: toolCallId })] },
        }),
      { name: 'write', description: 'Answers a command.', schema: z.object({ name: z.string() }) },
    )
    const agent = createAgent({
      model: new HttpChatModel(server.url),
      tools: [commanding],
      middleware: [createHooksMiddleware({ hooks })],
    })
    expect(toolMessages(await agent.invoke({ messages: 'go' }))).toMatchObject([{ content: 'changed' }])
  })

  test('that fails is told as a failure, and hooks may add to it', async () => {
    const hooks = createHooks()
    const seen: unknown[] = []
    hooks.on('post_tool_use_failure', ({ error, tool_input }) => {
      seen.push({ error, tool_input })
      return addContext('Try another name.')
    })
    const { run } = await prepared({ hooks }, { failing: true })
    const [message] = toolMessages(await run())
    expect(seen).toEqual([{ error: 'disk full', tool_input: { name: 'a' } }])
    expect(message?.content).toMatch(/disk full[\s\S]*Try another name\./)
    expect(message?.status).toBe('error')
  })

  test('of several at once each is decided for itself', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', ({ tool_input }) => {
      if (tool_input.name === 'a') return block('no')
      return tool_input.name === 'b' ? rewrite({ name: 'd' }) : undefined
    })
    const steps = [{ calls: [write('a'), write('b'), write('c')] }, { text: 'done' }]
    const { run, made } = await prepared({ hooks }, { steps })
    const result = await run()
    expect(['a', 'b', 'c', 'd'].map((name) => made.has(name))).toEqual([false, false, true, true])
    expect(toolMessages(result).map(({ content }) => content)).toEqual(['no', 'wrote d', 'wrote c'])
  })

  test('is blocked and rewritten as well when the agent is streamed', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', ({ tool_input }) =>
      tool_input.name === 'a' ? block('no') : rewrite({ name: 'd' }),
    )
    const steps = [{ calls: [write('a'), write('b')] }, { text: 'a longer answer' }]
    const { agent, made, config } = await prepared({ hooks }, { steps })
    const said: string[] = []
    const stream = await agent.stream(
      { messages: [new HumanMessage('go')] },
      { ...config, streamMode: 'messages' },
    )
    for await (const [message] of stream) if (message.getType() === 'ai') said.push(message.text)
    expect(said.filter(Boolean).length).toBeGreaterThan(2)
    expect(said.join('')).toContain('a longer answer')
    expect(['a', 'b', 'd'].map((name) => made.has(name))).toEqual([false, false, true])
  })
})

describe('a question', () => {
  test('is a no where nobody can be asked', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => ask('sure?'))
    const { run, made } = await prepared({ hooks })
    expect(toolMessages(await run())[0]?.content).toContain("needs a person's approval")
    expect(made.has('a')).toBe(false)
  })

  test.each([
    [{ type: 'approve' }, true],
    [{ type: 'reject', message: 'not today' }, false],
  ])('interrupts the graph where that is wanted: %j', async (decision, runs) => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => ({ ...ask('sure?'), input: { name: 'b' } }))
    const { run, made, agent, config } = await prepared({ hooks, ask: 'interrupt' })
    const paused = (await run()) as { __interrupt__?: { value: unknown }[] }
    expect(paused.__interrupt__?.[0]?.value).toMatchObject({
      actionRequests: [{ name: 'write', args: { name: 'b' }, description: 'sure?' }],
    })
    expect(made.has('b')).toBe(false)
    const result = await agent.invoke(new Command({ resume: { decisions: [decision] } }), config)
    expect([made.has('a'), made.has('b')]).toEqual([false, runs])
    expect(toolMessages(result)).toMatchObject([{ content: runs ? 'wrote b' : 'not today' }])
  })
})

describe('nothing runs', () => {
  test('when a hook throws', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => {
      throw new Error('broken')
    })
    const { run, made } = await prepared({ hooks })
    await run()
    expect(made.has('a')).toBe(false)
  })

  test('when a hook does not answer in time', async () => {
    const clock = fakeClock()
    const hooks = createHooks({ clock })
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
    hooks.on('pre_tool_use', () => {
      reach()
      return new Promise<undefined>(() => {})
    })
    const { run, made } = await prepared({ hooks })
    const running = run()
    await reached
    await clock.advance(10_000)
    expect(toolMessages(await running)).toMatchObject([{ status: 'error' }])
    expect(made.has('a')).toBe(false)
  })

  test('when there is no gateway: not even the model is asked', async () => {
    const { run, made, server } = await prepared({ client: clientOfNobody() })
    const result = await run()
    expect(result.messages.at(-1)?.content).toContain('no decision')
    expect(server.requests).toEqual([])
    expect(made.has('a')).toBe(false)
  })
})

describe('the model', () => {
  test('never sees a refused prompt, not even with the next one', async () => {
    const hooks = createHooks()
    hooks.on('user_prompt_submit', ({ prompt }) => (prompt === 'secret' ? block('not that') : undefined))
    const { run, server } = await prepared({ hooks }, { steps: [{ text: 'done' }] })
    const refused = await run('secret')
    expect(refused.messages.at(-1)).toBeInstanceOf(AIMessage)
    expect(refused.messages.at(-1)?.content).toBe('not that')
    expect(server.requests).toEqual([])
    await run('hello')
    expect(JSON.stringify(server.requests)).not.toContain('secret')
  })

  test('sees a changed prompt and added context in every request', async () => {
    const hooks = createHooks()
    let sessions = 0
    hooks.on('session_start', ({ source }) => {
      sessions += 1
      return addContext(`Today is Monday, ${source}.`)
    })
    hooks.on('user_prompt_submit', () => ({ kind: 'allow', input: 'go slowly', context: 'Mind the gap.' }))
    const { run, server } = await prepared({ hooks })
    await run()
    await run()
    expect(sessions).toBe(1)
    for (const { messages } of server.requests) {
      expect(JSON.stringify(messages[0])).toContain('Today is Monday, startup.')
      expect(messages[1]).toMatchObject({ role: 'user', content: 'go slowly\n\nMind the gap.' })
    }
  })

  test('gets a changed request, and its answer may be changed', async () => {
    const hooks = createHooks()
    hooks.on('model_request', ({ request }) =>
      rewrite(JSON.parse(JSON.stringify(request).replaceAll('key-4711', '[redacted]'))),
    )
    hooks.on('model_response', ({ response }) =>
      rewrite(JSON.parse(JSON.stringify(response).replaceAll('"name":"a"', '"name":"b"'))),
    )
    const { run, server, made } = await prepared({ hooks })
    await run('the key is key-4711')
    expect(server.requests[0].messages[0]).toMatchObject({ role: 'user', content: 'the key is [redacted]' })
    expect([made.has('a'), made.has('b')]).toEqual([false, true])
  })

  test('goes on when it may not stop, at most eight times', async () => {
    const hooks = createHooks()
    const active: unknown[] = []
    hooks.on('stop', ({ stop_hook_active }) => {
      active.push(stop_hook_active)
      return block('not yet')
    })
    const { run, server } = await prepared({ hooks }, { steps: [{ text: 'done' }] })
    await run()
    expect(server.requests).toHaveLength(9)
    expect(active.slice(0, 2)).toEqual([false, true])
    expect(server.requests[1].messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: 'done' },
      { role: 'user', content: 'not yet' },
    ])
  })
})

test('a tool that interrupts the graph itself has not failed', async () => {
  const hooks = createHooks()
  const failures: unknown[] = []
  hooks.on('post_tool_use_failure', (payload) => void failures.push(payload))
  const server = await fakeOpenAi(...twice)
  const { interrupt } = await import('@langchain/langgraph')
  const agent = createAgent({
    model: new HttpChatModel(server.url),
    tools: [
      tool(() => String(interrupt('which one?')), {
        name: 'write',
        description: 'Asks.',
        schema: z.object({ name: z.string() }),
      }),
    ],
    middleware: [createHooksMiddleware({ hooks })],
    checkpointer: new MemorySaver(),
  })
  const config = { configurable: { thread_id: '1' } }
  await agent.invoke({ messages: 'go' }, config)
  const result = await agent.invoke(new Command({ resume: 'that one' }), config)
  expect(toolMessages(result)).toMatchObject([{ content: 'that one' }])
  expect(failures).toEqual([])
})

test('stands beside other middlewares', async () => {
  const hooks = createHooks()
  hooks.on('pre_tool_use', () => rewrite({ name: 'b' }))
  const made = marks()
  const server = await fakeOpenAi(...twice)
  const seen: unknown[] = []
  const other = createMiddleware({
    name: 'other',
    wrapToolCall(request, handler) {
      seen.push(request.toolCall.args)
      return handler(request)
    },
  })
  const agent = createAgent({
    model: new HttpChatModel(server.url),
    tools: [writing(made)],
    middleware: [createHooksMiddleware({ hooks }), other],
  })
  await agent.invoke({ messages: 'go' })
  expect(seen).toEqual([{ name: 'b' }])
  expect(made.has('b')).toBe(true)
})

describe('with a gateway', () => {
  const gateway = shared()

  test('calls are blocked and rewritten there', async () => {
    await gateway().hook(
      scriptHook(
        'pre_tool_use',
        '^write$',
        'return e.toolInput.name === "a" ? { decision: "block", reason: "no" } : { decision: "allow", updatedInput: { name: "d" } }',
      ),
    )
    const steps = [{ calls: [write('a'), write('b')] }, { text: 'done' }]
    const { run, made } = await prepared({ client: clientOf(gateway()) }, { steps })
    const result = await run()
    expect(['a', 'b', 'd'].map((name) => made.has(name))).toEqual([false, false, true])
    expect(toolMessages(result).map(({ content }) => content)).toEqual(['no', 'wrote d'])
  })

  test('a question is answered there, by a person whom the call waits for', async () => {
    await gateway().hook(askingHook('^write$'))
    const steps = [{ calls: [write('b')] }, { calls: [write('c')] }, { text: 'done' }]
    const { run, made } = await prepared({ client: clientOf(gateway()), waitMs: 60_000 }, { steps })
    const ran = run()
    await answerNext(gateway(), 'deny', { message: 'not now' })
    await answerNext(gateway(), 'approve')
    const told = toolMessages(await ran).map(({ content }) => String(content))
    expect(told).toEqual([expect.stringContaining('denied this: not now'), 'wrote d'])
    expect(made.has('d')).toBe(true)
  })
})
