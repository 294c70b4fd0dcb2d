import {
  Agent,
  applyPatchTool,
  handoff,
  InputGuardrailTripwireTriggered,
  OpenAIProvider,
  type RunConfig,
  Runner,
  RunState,
  setTracingDisabled,
  shellTool,
  tool,
} from '@openai/agents'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { addContext, allow, ask, block, createHooks, rewrite } from '../../src/index.ts'
import { type AgentHooksOptions, createAgentsSession } from '../../src/sdk/openai-agents.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { shared } from '../gateway/running.fixture.ts'
import { answerNext, askingHook, clientOf, clientOfNobody, scriptHook } from './deciders.fixture.ts'
import { fakeOpenAi, type Step } from './fake-openai.fixture.ts'
import { type Marks, marks } from './scratch.fixture.ts'

const write = (name: string) => ({ tool: 'write', input: { name } })
const twice: readonly Step[] = [{ calls: [write('a')] }, { text: 'done' }]

beforeAll(() => setTracingDisabled(true))

function writing(made: Marks, more: { needsApproval?: boolean } = {}) {
  return tool({
    name: 'write',
    description: 'Writes a file.',
    parameters: z.object({ name: z.string() }),
    execute: ({ name }) => made.write(name),
    ...more,
  })
}

async function providing(steps: readonly Step[]) {
  const server = await fakeOpenAi(...steps)
  const modelProvider = new OpenAIProvider({ baseURL: server.url, apiKey: 'x', useResponses: true })
  return { server, modelProvider }
}

async function prepared(decides: AgentHooksOptions, steps: readonly Step[] = twice) {
  const made = marks()
  const { server, modelProvider } = await providing(steps)
  const session = createAgentsSession({ session: 'session-1', ...decides })
  const agent = new Agent({ name: 'clerk', model: 'fake', tools: [writing(made)] })
  const runner = (config: Partial<RunConfig> = {}) => session.runner({ modelProvider, ...config })
  return { made, server, modelProvider, session, agent, runner, run: () => runner().run(agent, 'go') }
}

/** What the model was told about its calls. */
function outputs(
  { requests }: { readonly requests: { input: { type?: string; output?: unknown }[] }[] },
  n = 1,
) {
  return requests[n]?.input.flatMap(({ type, output }) => (type === 'function_call_output' ? [output] : []))
}

describe('with no hook', () => {
  test('the model gets and gives exactly what it would without us', async () => {
    const { server, modelProvider } = await providing(twice)
    const agent = new Agent({ name: 'clerk', model: 'fake', tools: [writing(marks())] })
    const without = await new Runner({ modelProvider }).run(agent, 'go')
    const ours = await prepared({ hooks: createHooks() })
    const withUs = await ours.run()
    expect(ours.server.requests).toEqual(server.requests)
    expect(withUs.finalOutput).toBe(without.finalOutput)
    expect(withUs.history).toEqual(without.history)
    expect(ours.made.has('a')).toBe(true)
  })

  test('listeners of the agent and its own guardrails and approvals are still there', async () => {
    const { runner, made, agent } = await prepared({ hooks: createHooks() })
    const heard: string[] = []
    agent.on('agent_start', () => void heard.push('start'))
    agent.on('agent_tool_start', () => void heard.push('tool'))
    await runner().run(agent, 'go')
    expect(heard).toContain('tool')
    const asking = new Agent({ name: 'b', model: 'fake', tools: [writing(made, { needsApproval: true })] })
    const { runner: other } = await prepared({ hooks: createHooks() })
    expect((await other().run(asking, 'go')).interruptions).toHaveLength(1)
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
        envelope: { host: 'openai-agents', session: 'session-1', agent: 'clerk', toolCall: 'call_1_0' },
      },
    ])
  })

  test('that is blocked does not run, and the model learns why', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => block('policy 7', 'Write nothing.'))
    const { run, made, server } = await prepared({ hooks })
    expect((await run()).finalOutput).toBe('done')
    expect(made.has('a')).toBe(false)
    expect(outputs(server)).toEqual(['Write nothing.'])
  })

  test('runs with the input that hooks made of it, which other guardrails check', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => rewrite({ name: 'b' }))
    const { runner, made } = await prepared({ hooks })
    const checked: unknown[] = []
    const guarded = {
      ...writing(made),
      inputGuardrails: [
        {
          type: 'tool_input' as const,
          name: 'own',
          run: async ({ toolCall }: { toolCall: { arguments: string } }) => {
            checked.push(toolCall.arguments)
            return { behavior: { type: 'allow' as const } }
          },
        },
      ],
    }
    await runner().run(new Agent({ name: 'clerk', model: 'fake', tools: [guarded] }), 'go')
    expect([made.has('a'), made.has('b')]).toEqual([false, true])
    expect(checked).toEqual(['{"name":"b"}'])
  })

  test('does not run with an input that its schema refuses', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => rewrite({ name: 7 }))
    const { run, made } = await prepared({ hooks })
    await run()
    expect(made.has('7')).toBe(false)
  })

  test('hooks may change its result and add to it', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => addContext('first'))
    hooks.on('post_tool_use', { transform: true }, ({ tool_response }) => ({
      kind: 'allow',
      input: String(tool_response).toUpperCase(),
      context: 'second',
    }))
    const { run, server } = await prepared({ hooks })
    await run()
    expect(outputs(server)).toEqual(['WROTE A\n\nfirst\nsecond'])
  })

  test.each([undefined, null])(
    'that fails is told as a failure (errorFunction: %s)',
    async (errorFunction) => {
      const hooks = createHooks()
      const seen: unknown[] = []
      hooks.on('post_tool_use_failure', ({ tool_input, error }) => void seen.push([tool_input, error]))
      const { runner } = await prepared({ hooks })
      const broken = tool({
        name: 'write',
        description: 'Fails.',
        parameters: z.object({ name: z.string() }),
        execute: (): string => {
          throw new Error('disk full')
        },
        ...(errorFunction === undefined ? {} : { errorFunction }),
      })
      const running = runner().run(new Agent({ name: 'clerk', model: 'fake', tools: [broken] }), 'go')
      if (errorFunction === null) await expect(running).rejects.toThrow()
      else await running
      expect(seen).toEqual([
        [{ name: 'a' }, expect.stringMatching(errorFunction === null ? /disk full/ : /^An error occurred/)],
      ])
    },
  )

  test('of several at once each is decided for itself', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', ({ tool_input }) => {
      if (tool_input.name === 'a') return block('no')
      return tool_input.name === 'b' ? rewrite({ name: 'd' }) : undefined
    })
    const steps = [{ calls: [write('a'), write('b'), write('c')] }, { text: 'done' }]
    const { run, made, server } = await prepared({ hooks }, steps)
    await run()
    expect(['a', 'b', 'c', 'd'].map((name) => made.has(name))).toEqual([false, false, true, true])
    expect(outputs(server)).toEqual(['no', 'wrote d', 'wrote c'])
  })

  test('is blocked and rewritten as well when the run is streamed', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', ({ tool_input }) =>
      tool_input.name === 'a' ? block('no') : rewrite({ name: 'd' }),
    )
    const steps = [{ calls: [write('a'), write('b')] }, { text: 'a longer answer' }]
    const { runner, agent, made } = await prepared({ hooks }, steps)
    const result = await runner().run(agent, 'go', { stream: true })
    const said: string[] = []
    for await (const text of result.toTextStream()) said.push(text)
    await result.completed
    expect(said.length).toBeGreaterThan(2)
    expect(said.join('')).toBe('a longer answer')
    expect(['a', 'b', 'd'].map((name) => made.has(name))).toEqual([false, false, true])
  })
})

describe('a question', () => {
  async function asked(
    decides: () => ReturnType<typeof ask> | ReturnType<typeof block> = () => ask('sure?'),
  ) {
    const hooks = createHooks()
    let hook: () => ReturnType<typeof ask> | ReturnType<typeof block> = () => ask('sure?')
    hooks.on('pre_tool_use', () => hook())
    const all = await prepared({ hooks })
    const runner = all.runner()
    const paused = await runner.run(all.agent, 'go')
    const [item] = paused.interruptions
    if (item === undefined) throw new Error('nobody was asked')
    hook = decides
    return { ...all, runner, paused, item }
  }

  test('interrupts the run, and the call runs when the answer is yes', async () => {
    const { runner, agent, paused, item, made } = await asked()
    expect(made.has('a')).toBe(false)
    paused.state.approve(item)
    expect((await runner.run(agent, paused.state)).finalOutput).toBe('done')
    expect(made.has('a')).toBe(true)
  })

  test('is a no when the answer is no', async () => {
    const { runner, agent, paused, item, made } = await asked()
    paused.state.reject(item)
    await runner.run(agent, paused.state)
    expect(made.has('a')).toBe(false)
  })

  test('what a hook blocks in the meantime does not run after all', async () => {
    const { runner, agent, paused, item, made, server } = await asked(() => block('no longer'))
    paused.state.approve(item)
    await runner.run(agent, paused.state)
    expect(made.has('a')).toBe(false)
    expect(outputs(server)).toEqual(['no longer'])
  })

  test('survives being written down, if the guarded agent reads it', async () => {
    const { runner, session, agent, paused, item, made } = await asked()
    paused.state.approve(item)
    const text = paused.state.toString()
    const past = await RunState.fromString(agent, text)
    await expect(runner.run(agent, past)).rejects.toMatchObject({ code: 'agent.blocked' })
    expect(made.has('a')).toBe(false)
    await runner.run(agent, await RunState.fromString(session.agent(agent), text))
    expect(made.has('a')).toBe(true)
  })

  test('a hook that grants spares the question', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => allow({ grant: true }))
    const { runner, made } = await prepared({ hooks })
    const agent = new Agent({ name: 'clerk', model: 'fake', tools: [writing(made, { needsApproval: true })] })
    await runner().run(agent, 'go')
    expect(made.has('a')).toBe(true)
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
    await running
    expect(made.has('a')).toBe(false)
  })

  test('when there is no gateway: not even the model is asked', async () => {
    const { run, made, server } = await prepared({ client: clientOfNobody() })
    await expect(run()).rejects.toBeInstanceOf(InputGuardrailTripwireTriggered)
    expect(server.requests).toEqual([])
    expect(made.has('a')).toBe(false)
  })

  test('when a tool is called past the runner', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => ask('sure?'))
    const { session, agent, made } = await prepared({ hooks })
    const { RunContext } = await import('@openai/agents')
    const context = new RunContext()
    const [only] = await session.agent(agent).getAllTools(context)
    if (only?.type !== 'function') throw new Error('there is no such tool')
    await expect(only.invoke(context, '{"name":"a"}')).rejects.toMatchObject({ code: 'agent.blocked' })
    expect(made.has('a')).toBe(false)
  })
})

describe('the model', () => {
  test('does not see a refused prompt', async () => {
    const hooks = createHooks()
    hooks.on('user_prompt_submit', () => block('not that'))
    const { run, server } = await prepared({ hooks })
    const refused = await run().catch((thrown: unknown) => thrown)
    expect(refused).toBeInstanceOf(InputGuardrailTripwireTriggered)
    expect(refused).toMatchObject({ result: { output: { outputInfo: { message: 'not that' } } } })
    expect(server.requests).toEqual([])
  })

  test('sees a changed prompt and added context in every request', async () => {
    const hooks = createHooks()
    hooks.on('session_start', () => addContext('Today is Monday.'))
    hooks.on('user_prompt_submit', () => ({ kind: 'allow', input: 'go slowly', context: 'Mind the gap.' }))
    const { run, server } = await prepared({ hooks })
    await run()
    expect(server.requests).toHaveLength(2)
    for (const { input, instructions } of server.requests) {
      expect(instructions).toContain('Today is Monday.')
      expect(input[0]).toMatchObject({ role: 'user', content: 'go slowly\n\nMind the gap.' })
    }
  })

  test('gets a changed request', async () => {
    const hooks = createHooks()
    hooks.on('model_request', ({ request }) => rewrite({ ...request, instructions: 'Be brief.' }))
    const { run, server } = await prepared({ hooks })
    await run()
    expect(server.requests[0]).toMatchObject({ instructions: 'Be brief.' })
  })
})

describe('handoffs', () => {
  const steps: readonly Step[] = [
    { calls: [{ tool: 'transfer_to_scout', input: {} }] },
    { calls: [write('a')] },
    { text: 'done' },
  ]

  test('the other agent is a level deeper, and its calls pass the hooks', async () => {
    const hooks = createHooks()
    const seen: unknown[] = []
    hooks.on('subagent_start', ({ agent_type }) => void seen.push(['start', agent_type]))
    hooks.on('subagent_stop', ({ agent_type }) => void seen.push(['stop', agent_type]))
    hooks.on('pre_tool_use', (_, { envelope }) => {
      const { agent, parentAgent, depth, lane } = envelope
      seen.push({ agent, parentAgent, depth, lane })
      return block('no')
    })
    const { runner, made, session } = await prepared({ hooks }, steps)
    const scout = new Agent({ name: 'scout', model: 'fake', tools: [writing(made)] })
    const chief = new Agent({ name: 'chief', model: 'fake', handoffs: [handoff(scout)] })
    // They may lead back.
    scout.handoffs.push(chief)
    expect((await runner().run(chief, 'go')).finalOutput).toBe('done')
    await session.end()
    expect(made.has('a')).toBe(false)
    expect(seen).toEqual([
      ['start', 'scout'],
      { agent: 'scout', parentAgent: 'chief', depth: 1, lane: 'scout' },
      ['stop', 'scout'],
    ])
  })

  test('may be refused', async () => {
    const hooks = createHooks()
    hooks.on('subagent_start', () => block('stay here'))
    const { runner, made, server } = await prepared({ hooks }, steps)
    const scout = new Agent({ name: 'scout', model: 'fake', tools: [writing(made)] })
    const chief = new Agent({ name: 'chief', model: 'fake', handoffs: [scout] })
    await expect(runner().run(chief, 'go')).rejects.toThrow('stay here')
    expect(server.requests).toHaveLength(1)
  })
})

test('an agent that is a tool of another is guarded on its own', async () => {
  const hooks = createHooks()
  hooks.on('pre_tool_use', ({ tool_name }) => (tool_name === 'write' ? block('no') : undefined))
  const steps = [
    { calls: [{ tool: 'scout', input: { input: 'look' } }] },
    { calls: [write('a')] },
    { text: 'looked' },
    { text: 'done' },
  ]
  const { runner, session, made } = await prepared({ hooks }, steps)
  const scout = new Agent({ name: 'scout', model: 'fake', tools: [writing(made)] })
  const asTool = session.agent(scout).asTool({ toolName: 'scout', toolDescription: 'Looks.' })
  const chief = new Agent({ name: 'chief', model: 'fake', tools: [asTool] })
  expect((await runner().run(chief, 'go')).finalOutput).toBe('done')
  expect(made.has('a')).toBe(false)
})

test('tools of tool servers are guarded', async () => {
  const hooks = createHooks()
  hooks.on('pre_tool_use', () => block('no'))
  const { runner, made, server } = await prepared({ hooks })
  const called: string[] = []
  const toolServer = {
    name: 'files',
    cacheToolsList: false,
    connect: async () => {},
    close: async () => {},
    invalidateToolsCache: async () => {},
    listTools: async () => [
      {
        name: 'write',
        description: 'Writes.',
        inputSchema: {
          type: 'object' as const,
          properties: { name: { type: 'string' } },
          required: ['name'],
          additionalProperties: false,
        },
      },
    ],
    callTool: async (name: string) => {
      called.push(name)
      return [{ type: 'text' as const, text: made.write('a') }]
    },
  }
  await runner().run(new Agent({ name: 'clerk', model: 'fake', mcpServers: [toolServer] }), 'go')
  expect(called).toEqual([])
  expect(outputs(server)).toEqual(['no'])
})

test('shell and patches are refused too, and a changed input is not delivered', async () => {
  for (const hook of [() => block('no'), () => rewrite({ commands: ['ls'] })]) {
    const hooks = createHooks()
    hooks.on('pre_tool_use', hook)
    const { session } = await prepared({ hooks })
    const ran: unknown[] = []
    const shell = shellTool({
      shell: {
        run: async (action) => {
          ran.push(action)
          return { output: [] }
        },
      },
    })
    const patches = applyPatchTool({ editor: {} as never })
    const { RunContext } = await import('@openai/agents')
    const context = new RunContext()
    const guarded = session.agent(new Agent({ name: 'clerk', tools: [shell, patches] }))
    for (const each of await guarded.getAllTools(context)) {
      if (each.type !== 'shell' && each.type !== 'apply_patch') throw new Error('there is no such tool')
      const item = { rawItem: { callId: '1' } } as never
      expect(await each.needsApproval(context, { commands: ['rm'] } as never, '1')).toBe(true)
      expect(await each.onApproval?.(context, item)).toMatchObject({ approve: false })
    }
    expect(ran).toEqual([])
  }
})

test('observers are told, and a stop that cannot be held back is logged', async () => {
  const hooks = createHooks()
  const seen: unknown[] = []
  const logged: string[] = []
  hooks.on('post_tool_use', ({ tool_response }) => void seen.push(tool_response))
  hooks.on('stop', ({ last_assistant_message }) => {
    seen.push(last_assistant_message)
    return block('not yet')
  })
  hooks.on('session_end', ({ reason }) => void seen.push(reason))
  const { run, session } = await prepared({ hooks, log: (name) => void logged.push(name) })
  await run()
  await session.end('logout')
  expect(seen).toEqual(['wrote a', 'done', 'logout'])
  expect(logged).toEqual(['agent.undelivered'])
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
    const { run, made, server } = await prepared({ client: clientOf(gateway()) }, steps)
    await run()
    expect(['a', 'b', 'd'].map((name) => made.has(name))).toEqual([false, false, true])
    expect(outputs(server)).toEqual(['no', 'wrote d'])
  })

  test('a question is answered there, by a person whom the call waits for', async () => {
    await gateway().hook(askingHook('^write$'))
    const steps = [{ calls: [write('b')] }, { calls: [write('c')] }, { text: 'done' }]
    const { run, made, server } = await prepared({ client: clientOf(gateway()), waitMs: 60_000 }, steps)
    const ran = run()
    await answerNext(gateway(), 'deny', { message: 'not now' })
    await answerNext(gateway(), 'approve')
    await ran
    const told = JSON.stringify(server.requests.at(-1))
    expect(told).toContain('denied this: not now')
    expect(told).toContain('wrote d')
    expect(made.has('d')).toBe(true)
  })
})
