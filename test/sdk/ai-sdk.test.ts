import { createOpenAI } from '@ai-sdk/openai'
import {
  dynamicTool,
  generateText,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  streamText,
  type ToolSet,
  tool,
} from 'ai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { addContext, allow, ask, block, createHooks, rewrite } from '../../src/index.ts'
import { type AiSdkOptions, type AiSdkSession, createAiSdkSession } from '../../src/sdk/ai-sdk.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { shared } from '../gateway/running.fixture.ts'
import { answerNext, askingHook, clientOf, clientOfNobody, scriptHook } from './deciders.fixture.ts'
import { fakeOpenAi, type Step } from './fake-openai.fixture.ts'
import { type Marks, marks } from './scratch.fixture.ts'

const write = (name: string) => ({ tool: 'write', input: { name } })
const twice: readonly Step[] = [{ calls: [write('a')] }, { text: 'done' }]

function writing(made: Marks) {
  return {
    write: tool({ inputSchema: z.object({ name: z.string() }), execute: ({ name }) => made.write(name) }),
  }
}

async function modelOf(steps: readonly Step[]) {
  const server = await fakeOpenAi(...steps)
  const model = createOpenAI({ baseURL: server.url, apiKey: 'x' }).chat('fake')
  return { model, server }
}

async function prepared(decides: AiSdkOptions, steps: readonly Step[] = twice) {
  const made = marks()
  const session = createAiSdkSession({ session: 'session-1', agent: 'clerk', ...decides })
  const { model, server } = await modelOf(steps)
  const run = <T extends ToolSet>(tools: T) =>
    generateText({
      model: session.model(model),
      ...session.guard(tools),
      prompt: 'go',
      stopWhen: isStepCount(5),
      maxRetries: 0,
    })
  return { made, session, model, server, run, tools: writing(made) }
}

/** What the model was told about the tool. */
function toolSaid(server: { readonly requests: { messages: { role: string; content: string }[] }[] }, n = 1) {
  return server.requests[n]?.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
}

describe('with no hook', () => {
  test('the model gets and gives exactly what it would without us', async () => {
    const plain = await modelOf(twice)
    const tools = writing(marks())
    const without = await generateText({
      model: plain.model,
      tools,
      prompt: 'go',
      stopWhen: isStepCount(5),
    })
    const ours = await prepared({ hooks: createHooks() })
    const withUs = await ours.run(ours.tools)
    expect(ours.server.requests).toEqual(plain.server.requests)
    expect(withUs.response.messages).toEqual(without.response.messages)
    expect(ours.made.has('a')).toBe(true)
  })

  test('a tool may still change the input it gets', async () => {
    const { run } = await prepared({ hooks: createHooks() })
    const { steps } = await run({
      write: tool({
        inputSchema: z.object({ name: z.string() }),
        execute: (input) => {
          input.name += '!'
          return input.name
        },
      }),
    })
    expect(steps[0]?.toolResults[0]?.output).toBe('a!')
  })

  test.each([
    ['a table', { write: 'denied' as const }],
    ['a function', () => 'denied' as const],
    ['one function for a tool', { write: () => 'denied' as const }],
  ])('what the program itself denies stays denied: %s', async (_, toolApproval) => {
    const { session, model, made, tools } = await prepared({ hooks: createHooks() })
    await generateText({ model, ...session.guard(tools, { toolApproval }), prompt: 'go' })
    expect(made.has('a')).toBe(false)
  })

  test('what a tool itself wants approved is still asked about', async () => {
    const { run, made, tools } = await prepared({ hooks: createHooks() })
    const { content } = await run({ write: { ...tools.write, needsApproval: async () => true } })
    expect(content.map(({ type }) => type)).toContain('tool-approval-request')
    expect(made.has('a')).toBe(false)
  })
})

describe('a tool call', () => {
  test('is told to the hooks once, with where it belongs', async () => {
    const hooks = createHooks()
    const seen: unknown[] = []
    hooks.on('pre_tool_use', (payload, { envelope }) => void seen.push({ payload, envelope }))
    const { run, made, tools } = await prepared({ hooks })
    await run(tools)
    expect(made.has('a')).toBe(true)
    expect(seen).toEqual([
      {
        payload: { tool_name: 'write', tool_input: { name: 'a' }, tool_use_id: 'call_1_0' },
        envelope: {
          host: 'ai-sdk',
          session: 'session-1',
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
    const { run, made, server, tools } = await prepared({ hooks })
    expect((await run(tools)).text).toBe('done')
    expect(made.has('a')).toBe(false)
    expect(toolSaid(server)).toEqual(['Write nothing.'])
  })

  test('runs with the input that hooks made of it', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => rewrite({ name: 'b' }))
    const { run, made, tools } = await prepared({ hooks })
    await run(tools)
    expect([made.has('a'), made.has('b')]).toEqual([false, true])
  })

  test('does not run with an input that its schema refuses', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => rewrite({ name: 7 }))
    const { run, made, server, tools } = await prepared({ hooks })
    await run(tools)
    expect(made.has('7')).toBe(false)
    expect(toolSaid(server)?.[0]).toContain('a hook changed the input to one that the tool does not accept')
  })

  test('the approval of the program is asked about the input that will run', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => rewrite({ name: 'b' }))
    const { session, model, made, tools } = await prepared({ hooks })
    const toolApproval = {
      write: ({ name }: { name: string }) => (name === 'b' ? 'denied' : 'approved'),
    } as const
    await generateText({ model, ...session.guard(tools, { toolApproval }), prompt: 'go' })
    expect([made.has('a'), made.has('b')]).toEqual([false, false])
  })

  test('hooks may change its result and add to it', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => addContext('first'))
    hooks.on('post_tool_use', { transform: true }, ({ tool_response }) => ({
      kind: 'allow',
      input: String(tool_response).toUpperCase(),
      context: 'second',
    }))
    const { run, server, tools } = await prepared({ hooks })
    const { steps } = await run(tools)
    expect(steps[0]?.toolResults[0]?.output).toBe('WROTE A')
    expect(toolSaid(server)).toEqual(['WROTE A\n\nfirst\nsecond'])
  })

  test('that fails is told as a failure, and hooks may add to it', async () => {
    const hooks = createHooks()
    const seen: unknown[] = []
    hooks.on('post_tool_use_failure', ({ error, tool_input }) => {
      seen.push({ error, tool_input })
      return addContext('Try another name.')
    })
    hooks.on('post_tool_use', { transform: true }, () => void seen.push('done'))
    const { run, server } = await prepared({ hooks })
    await run({
      write: tool({
        inputSchema: z.object({ name: z.string() }),
        execute: (): string => {
          throw new Error('disk full')
        },
      }),
    })
    expect(seen).toEqual([{ error: 'disk full', tool_input: { name: 'a' } }])
    expect(toolSaid(server)?.[0]).toMatch(/disk full.*Try another name\./)
  })

  test('that a hook grants needs no approval, unless the program denies it', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => allow({ grant: true }))
    const { session, model, made, tools } = await prepared({ hooks })
    const wants = { toolApproval: { write: 'user-approval' as const } }
    await generateText({ model, ...session.guard(tools, wants), prompt: 'go' })
    expect(made.has('a')).toBe(true)
  })

  test('may hold what no hook can be given as it is', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', ({ tool_input }) => rewrite({ ...tool_input, name: 'b' }))
    const { run, made } = await prepared({ hooks })
    const dated = (value: unknown) => ({ when: new Date(0), ...(value as { name: string; when?: Date }) })
    let when: unknown
    await run({
      write: tool({
        inputSchema: jsonSchema<ReturnType<typeof dated>>(
          { type: 'object' },
          { validate: (value) => ({ success: true, value: dated(value) }) },
        ),
        execute: (input) => {
          when = input.when
          return made.write(input.name)
        },
      }),
    })
    expect(made.has('b')).toBe(true)
    expect(when).toEqual(new Date(0))
  })
})

describe('a question', () => {
  async function asked(hook: () => ReturnType<typeof ask> & { input?: { name: string } }) {
    const hooks = createHooks()
    let times = 0
    hooks.on('pre_tool_use', () => {
      times += 1
      return hook()
    })
    const made = marks()
    const session = createAiSdkSession({ hooks })
    const { model } = await modelOf(twice)
    const guarded = session.guard(writing(made))
    const messages: ModelMessage[] = [{ role: 'user', content: 'go' }]
    const first = await generateText({ model: session.model(model), ...guarded, messages })
    messages.push(...first.response.messages)
    const request = first.content.find((part) => part.type === 'tool-approval-request')
    const answer = (approved: boolean) => {
      const approvalId = request?.approvalId ?? ''
      messages.push({ role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved }] })
      return generateText({ model: session.model(model), ...guarded, messages })
    }
    return { made, request, answer, times: () => times }
  }

  test('goes to a person, and the call runs when the answer is yes', async () => {
    const { made, request, answer, times } = await asked(() => ask('sure?'))
    expect(request).toMatchObject({ reason: 'sure?' })
    expect(made.has('a')).toBe(false)
    await answer(true)
    expect(made.has('a')).toBe(true)
    // Once when it was called, once more before it ran: much may have changed until a person answers.
    expect(times()).toBe(2)
  })

  test('is a no when the answer is no', async () => {
    const { made, answer } = await asked(() => ask('sure?'))
    await answer(false)
    expect(made.has('a')).toBe(false)
  })

  test('says which input will run, when hooks changed it', async () => {
    const { made, request, answer } = await asked(() => ({ ...ask('sure?'), input: { name: 'b' } }))
    expect(request).toMatchObject({ reason: 'sure? (runs with {"name":"b"})' })
    await answer(true)
    expect([made.has('a'), made.has('b')]).toEqual([false, true])
  })

  test('is a no where the program leaves the approval away', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => ask('sure?'))
    const { session, model, made, server, tools } = await prepared({ hooks })
    const { tools: guarded } = session.guard(tools)
    await generateText({ model, tools: guarded, prompt: 'go', stopWhen: isStepCount(5) })
    expect(made.has('a')).toBe(false)
    expect(toolSaid(server)?.[0]).toContain("needs a person's approval")
  })
})

describe('nothing runs', () => {
  test('when a hook throws', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => {
      throw new Error('broken')
    })
    const { run, made, tools } = await prepared({ hooks })
    await run(tools)
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
    const { run, made, server, tools } = await prepared({ hooks })
    const running = run(tools)
    await reached
    await clock.advance(10_000)
    await running
    expect(made.has('a')).toBe(false)
    expect(toolSaid(server)?.[0]).toContain('timeout')
  })

  test('when there is no gateway: not even the model is asked', async () => {
    const { run, made, server, tools } = await prepared({ client: clientOfNobody() })
    await expect(run(tools)).rejects.toMatchObject({ code: 'agent.blocked' })
    expect(server.requests).toEqual([])
    expect(made.has('a')).toBe(false)
  })

  test('when the gateway is gone by the time a tool is called', async () => {
    const { session, model, made, server, tools } = await prepared({ client: clientOfNobody() })
    await generateText({ model, ...session.guard(tools), prompt: 'go', stopWhen: isStepCount(5) })
    expect(made.has('a')).toBe(false)
    expect(toolSaid(server)?.[0]).toContain('no decision')
  })

  test('when an input cannot be read', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => {})
    const { run, made } = await prepared({ hooks })
    const loop: Record<string, unknown> = { read: () => 1 }
    loop.self = loop
    await run({
      write: tool({
        inputSchema: z.object({ name: z.string().transform(() => loop) }),
        execute: () => made.write('a'),
      }),
    })
    expect(made.has('a')).toBe(false)
  })

  test('that runs elsewhere, when it is blocked or a hook changed its input', async () => {
    for (const hook of [() => block('no'), () => rewrite({ name: 'b' })]) {
      const hooks = createHooks()
      hooks.on('pre_tool_use', hook)
      const { run } = await prepared({ hooks })
      const { steps } = await run({
        write: tool({ inputSchema: z.object({ name: z.string() }), outputSchema: z.string() }),
      })
      expect(steps[0]?.content.map(({ type }) => type)).toContain('tool-approval-response')
    }
  })
})

describe('several calls at once', () => {
  const both: readonly Step[] = [{ calls: [write('a'), write('b'), write('c')] }, { text: 'done' }]

  test('are decided one by one', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', ({ tool_input }) => {
      if (tool_input.name === 'a') return block('no')
      return tool_input.name === 'b' ? rewrite({ name: 'd' }) : undefined
    })
    const { run, made, server, tools } = await prepared({ hooks }, both)
    await run(tools)
    expect(['a', 'b', 'c', 'd'].map((name) => made.has(name))).toEqual([false, false, true, true])
    expect(toolSaid(server)?.toSorted()).toEqual(['no', 'wrote c', 'wrote d'])
  })

  test('also when the calls of two runs have the same ids', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', ({ tool_input }) =>
      tool_input.name === 'a' ? block('no') : rewrite({ name: `${tool_input.name}2` }),
    )
    const made = marks()
    const session = createAiSdkSession({ hooks })
    const guarded = session.guard(writing(made))
    const runs = ['a', 'b'].map(async (name) => {
      const { model } = await modelOf([{ calls: [write(name)] }, { text: 'done' }])
      await generateText({ model: session.model(model), ...guarded, prompt: name, stopWhen: isStepCount(5) })
    })
    await Promise.all(runs)
    expect(['a', 'b', 'a2', 'b2'].map((name) => made.has(name))).toEqual([false, false, false, true])
  })
})

describe('streamed', () => {
  const streaming = (session: AiSdkSession, model: Parameters<AiSdkSession['model']>[0], tools: ToolSet) =>
    streamText({
      model: session.model(model),
      ...session.guard(tools),
      prompt: 'go',
      stopWhen: isStepCount(5),
      maxRetries: 0,
      onError: () => {},
    })

  test('calls are blocked, rewritten and their results changed as well', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', ({ tool_input }) =>
      tool_input.name === 'a' ? block('no') : rewrite({ name: 'd' }),
    )
    hooks.on('post_tool_use', { transform: true }, () => rewrite('changed'))
    const steps = [{ calls: [write('a'), write('b')] }, { text: 'done' }]
    const { session, model, made, server, tools } = await prepared({ hooks }, steps)
    expect(await streaming(session, model, tools).text).toBe('done')
    expect(['a', 'b', 'd'].map((name) => made.has(name))).toEqual([false, false, true])
    expect(toolSaid(server)?.toSorted()).toEqual(['changed', 'no'])
  })

  test('results that come in pieces come in pieces, and the last one may be changed', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => {})
    hooks.on('post_tool_use', { transform: true }, ({ tool_response }) => rewrite(`${tool_response}!`))
    const { session, model, server } = await prepared({ hooks })
    const outputs: unknown[] = []
    const { fullStream } = streaming(session, model, {
      write: tool({
        inputSchema: z.object({ name: z.string() }),
        async *execute() {
          yield 'half'
          yield 'whole'
        },
      }),
    })
    for await (const part of fullStream) {
      if (part.type === 'tool-result') outputs.push([part.output, part.preliminary ?? false])
    }
    expect(outputs).toEqual([
      ['half', true],
      ['whole', true],
      ['whole!', true],
      ['whole!', false],
    ])
    expect(toolSaid(server)).toEqual(['whole!'])
  })

  test('without hooks the pieces are those of the model', async () => {
    const tell = async (wrap: boolean) => {
      const { session, model } = await prepared({ hooks: createHooks() }, [{ text: 'a longer answer' }])
      const parts: unknown[] = []
      const { fullStream } = streamText({ model: wrap ? session.model(model) : model, prompt: 'go' })
      for await (const part of fullStream) if (part.type === 'text-delta') parts.push(part.text)
      return parts
    }
    const pieces = await tell(true)
    expect(pieces).toEqual(await tell(false))
    expect(pieces.length).toBeGreaterThan(2)
  })

  test('an answer is held back for hooks that may change it', async () => {
    const hooks = createHooks()
    hooks.on('model_response', ({ response }) =>
      rewrite(JSON.parse(JSON.stringify(response).replaceAll('key-4711', '[redacted]'))),
    )
    const { session, model, tools } = await prepared({ hooks }, [{ text: 'the key is key-4711' }])
    const said: string[] = []
    for await (const text of streaming(session, model, tools).textStream) said.push(text)
    expect(said.join('')).toBe('the key is [redacted]')
  })

  test('a refused prompt is an error of the stream', async () => {
    const hooks = createHooks()
    hooks.on('user_prompt_submit', () => block('not that'))
    const { session, model, server, tools } = await prepared({ hooks })
    const errors: unknown[] = []
    for await (const part of streaming(session, model, tools).fullStream) {
      if (part.type === 'error') errors.push(part.error)
    }
    expect(errors).toMatchObject([{ code: 'agent.blocked', message: 'not that' }])
    expect(server.requests).toEqual([])
  })

  test('the model goes on when it may not stop', async () => {
    const hooks = createHooks()
    let stops = 0
    hooks.on('stop', () => (stops++ === 0 ? block('run the tests') : undefined))
    const { session, model, server, tools } = await prepared({ hooks }, [{ text: 'one ' }, { text: 'two' }])
    const result = streaming(session, model, tools)
    expect(await result.text).toBe('one two')
    expect((await result.usage).totalTokens).toBe(240)
    expect(server.requests[1].messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: 'one ' },
      { role: 'user', content: 'run the tests' },
    ])
  })
})

describe('the model', () => {
  test('does not see a refused prompt', async () => {
    const hooks = createHooks()
    hooks.on('user_prompt_submit', () => block('not that'))
    const { run, server, tools } = await prepared({ hooks })
    await expect(run(tools)).rejects.toMatchObject({ code: 'agent.blocked', message: 'not that' })
    expect(server.requests).toEqual([])
  })

  test('sees a changed prompt and added context in every request', async () => {
    const hooks = createHooks()
    let times = 0
    hooks.on('session_start', () => addContext('Today is Monday.'))
    hooks.on('user_prompt_submit', () => {
      times += 1
      return { kind: 'allow', input: 'go slowly', context: 'Mind the gap.' }
    })
    const { run, server, tools } = await prepared({ hooks })
    await run(tools)
    expect(times).toBe(1)
    for (const { messages } of server.requests) {
      expect(messages[0]).toMatchObject({ role: 'system', content: 'Today is Monday.' })
      expect(JSON.stringify(messages[1])).toContain('go slowly')
      expect(JSON.stringify(messages[1])).toContain('Mind the gap.')
      expect(JSON.stringify(messages)).not.toContain('"go"')
    }
  })

  test('gets a changed request, and its answer may be changed', async () => {
    const hooks = createHooks()
    hooks.on('model_request', ({ request }) => rewrite({ ...request, temperature: 0.5 }))
    hooks.on('model_response', ({ response }) =>
      rewrite(JSON.parse(JSON.stringify(response).replaceAll('"name\\":\\"a', '"name\\":\\"b'))),
    )
    const { run, server, made, tools } = await prepared({ hooks })
    await run(tools)
    expect(server.requests[0]).toMatchObject({ temperature: 0.5 })
    expect([made.has('a'), made.has('b')]).toEqual([false, true])
  })

  test('goes on when it may not stop, at most eight times', async () => {
    const hooks = createHooks()
    hooks.on('stop', () => block('not yet'))
    const { run, server, tools } = await prepared({ hooks }, [{ text: '.' }])
    expect((await run(tools)).text).toBe('.........')
    expect(server.requests).toHaveLength(9)
  })

  test('is asked again after a failure without asking the hooks again', async () => {
    const hooks = createHooks()
    let prompts = 0
    hooks.on('user_prompt_submit', () => void prompts++)
    const { session, model, server } = await prepared({ hooks }, [{ status: 500 }, { text: 'done' }])
    await generateText({ model: session.model(model), prompt: 'go' })
    expect(server.requests).toHaveLength(2)
    expect(prompts).toBe(1)
  })
})

test('other kinds of tools are guarded too: dynamic ones, and those called past the SDK', async () => {
  const hooks = createHooks()
  hooks.on('pre_tool_use', () => block('no'))
  const { run, session, made } = await prepared({ hooks })
  const write = dynamicTool({
    inputSchema: jsonSchema({ type: 'object' }),
    execute: async () => made.write('a'),
  })
  await run({ write })
  const { tools } = session.guard({ write })
  const options = { toolCallId: '1', messages: [], context: {} }
  await expect(tools.write.execute?.({}, options)).rejects.toMatchObject({ code: 'agent.blocked' })
  expect(made.has('a')).toBe(false)
})

test('a call that was given up does not run', async () => {
  const hooks = createHooks()
  const controller = new AbortController()
  hooks.on('pre_tool_use', () => {
    controller.abort()
    return new Promise<undefined>(() => {})
  })
  const { session, made, tools } = await prepared({ hooks })
  const { tools: guarded } = session.guard(tools)
  const options = { toolCallId: '1', messages: [], context: {}, abortSignal: controller.signal }
  await expect(guarded.write.execute?.({ name: 'a' }, options)).rejects.toMatchObject({ name: 'AbortError' })
  expect(made.has('a')).toBe(false)
})

test('a sub-agent is a level deeper, and may be refused', async () => {
  const hooks = createHooks()
  const seen: unknown[] = []
  hooks.on('subagent_start', ({ agent_type }) => (agent_type === 'spy' ? block('no spies') : undefined))
  hooks.on('subagent_stop', ({ status }, { envelope }) => void seen.push([status, envelope.depth]))
  hooks.on('pre_tool_use', (_, { envelope }) => void seen.push(envelope))
  const { session, model, tools } = await prepared({ hooks })
  await session.subagent('scout', 'look', (inner, prompt) =>
    generateText({ model: inner.model(model), ...inner.guard(tools), prompt }),
  )
  await expect(session.subagent('spy', 'look', async () => {})).rejects.toThrow('no spies')
  await session.end()
  expect(seen).toMatchObject([
    { agent: 'scout', parentAgent: 'clerk', depth: 1, lane: 'scout', session: 'session-1' },
    ['success', 1],
  ])
})

test('observers are told of everything, and nobody waits for them', async () => {
  const hooks = createHooks()
  const seen: unknown[] = []
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  hooks.on('session_start', ({ source }) => void seen.push(['session_start', source]))
  hooks.on('post_tool_use', async ({ tool_response }) => {
    await held
    seen.push(['post_tool_use', tool_response])
  })
  hooks.on('session_end', async ({ reason }) => {
    await held
    seen.push(['session_end', reason])
  })
  const { run, session, tools } = await prepared({ hooks })
  expect((await run(tools)).text).toBe('done')
  expect(seen).toEqual([['session_start', 'startup']])
  const ended = session.end('logout')
  release()
  await ended
  expect(seen.slice(1).toSorted()).toEqual([
    ['post_tool_use', 'wrote a'],
    ['session_end', 'logout'],
  ])
})

describe('with a gateway', () => {
  const gateway = shared()

  test('calls are blocked and rewritten there, and told', async () => {
    await gateway().hook(
      scriptHook('pre_tool_use', '^forbidden$', 'return { decision: "block", reason: "no" }'),
    )
    await gateway().hook(
      scriptHook('pre_tool_use', '^write$', 'return { decision: "allow", updatedInput: { name: "b" } }'),
    )
    const steps = [{ calls: [write('a'), { tool: 'forbidden', input: { name: 'c' } }] }, { text: 'done' }]
    const { run, session, made, server, tools } = await prepared({ client: clientOf(gateway()) }, steps)
    await run({ ...tools, forbidden: tools.write })
    expect(['a', 'b', 'c'].map((name) => made.has(name))).toEqual([false, true, false])
    expect(toolSaid(server)?.toSorted()).toEqual(['no', 'wrote b'])
    await session.end()
  })

  test('a question is answered there, by a person whom the call waits for', async () => {
    await gateway().hook(askingHook('^(asks|edits)$'))
    const call = (tool: string) => ({ calls: [{ tool, input: { name: tool } }] })
    const steps = [call('asks'), call('edits'), { text: 'done' }]
    const { run, made, server, tools } = await prepared(
      { client: clientOf(gateway()), waitMs: 60_000 },
      steps,
    )
    const ran = run({ asks: tools.write, edits: tools.write })
    await answerNext(gateway(), 'deny', { message: 'not now' })
    await answerNext(gateway(), 'approve', { input: { name: 'edited' } })
    await ran
    expect(['asks', 'edits', 'edited'].map((name) => made.has(name))).toEqual([false, false, true])
    expect(JSON.stringify(server.requests.at(-1))).toContain('denied this: not now')
  })

  test('with a token it does not know everything is blocked', async () => {
    const client = clientOf({ url: gateway().url, token: 'wrong' })
    const { session, model, made, tools } = await prepared({ client })
    await generateText({ model, ...session.guard(tools), prompt: 'go' })
    expect(made.has('a')).toBe(false)
  })
})

test('hooks with events of their own are hooks too', () => {
  const hooks = createHooks({ events: {} })
  expect(createAiSdkSession({ hooks })).toBeDefined()
})
