import { describe, expect, test } from 'vitest'
import { createAgentTest } from '../../../test/handlers/agent-hook.fixture.ts'
import { createPromptTest, modelsOf } from '../../../test/handlers/prompt-hook.fixture.ts'
import { createHooks } from '../../index.ts'
import { agentHandler } from './agent.ts'

describe('an agent is asked', () => {
  test('with the envelope of a run, and whose run it is', async () => {
    const { run, requests } = createAgentTest(() => ({ ok: true }))
    await run({ path: '/x' })
    expect(requests).toMatchObject([
      {
        agent_name: 'validator',
        depth: 1,
        tenant_id: 't',
        session_id: 's',
        run_id: 'r',
        parent_event_id: expect.any(String),
      },
    ])
    expect(requests[0]?.input).toEqual({
      parameters: { path: '/x' },
      agent_name: 'main',
      session_id: 's',
      run_id: 'r',
    })
  })

  test('with the event, as commands see it, everywhere else', async () => {
    const { hooks, requests } = createAgentTest(() => ({ ok: true }), { event: 'pre_tool_use' })
    await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: { command: 'ls' } })
    expect(requests[0]?.input).toMatchObject({ event: 'pre_tool_use', tool_name: 'Bash' })
  })

  test('and an input its schema refuses blocks, whatever on_error says', async () => {
    const input_schema = { properties: { parameters: { required: ['id'] } } }
    const config = { agent_name: 'v', input_schema }
    const { run, requests } = createAgentTest(() => ({ ok: true }), { config, on_error: 'allow' })
    const decision = await run()
    expect(decision).toMatchObject({ kind: 'block', by: 'a' })
    expect(decision.reason).toContain("/parameters must have required property 'id'")
    expect(requests).toEqual([])
  })

  test('4.6 #102 only where the host lends a launcher', async () => {
    const decision = await createAgentTest(undefined).run()
    expect(decision).toMatchObject({ kind: 'block', code: 'agent.no_host' })
    expect(decision.reason).toContain('no agent launcher is registered')
  })

  test('and a launcher that fails closes the run', async () => {
    const { run } = createAgentTest(() => {
      throw new Error('out of seats')
    })
    const decision = await run()
    expect(decision).toMatchObject({ kind: 'block', code: 'agent.failed' })
    expect(decision.reason).toContain('out of seats')
  })

  test('and told to stop at the deadline', async () => {
    const stopped = Promise.withResolvers<string>()
    const { run } = createAgentTest(
      (_, signal) =>
        new Promise(() => {
          signal.addEventListener('abort', () => stopped.resolve('stopped'))
        }),
      { timeout_ms: 50 },
    )
    expect(await run()).toMatchObject({ kind: 'block', code: 'agent.timeout' })
    expect(await stopped.promise).toBe('stopped')
  })

  test('4.6 #99 agents whose hooks start agents come to an end at depth 3', async () => {
    const depths: number[] = []
    const { hooks, run, seen } = createAgentTest(async ({ depth }) => {
      depths.push(depth)
      const inner = await hooks.dispatch('run_start', { parameters: {} }, { depth })
      return inner.kind === 'block' ? { action: 'block', block_reason: inner.reason } : { action: 'continue' }
    })
    expect(await run()).toMatchObject({ kind: 'block' })
    expect(depths).toEqual([1, 2, 3, 4])
    expect(seen.lines.map(({ name }) => name)).toContain('security.hook.loop_depth_exceeded')
    expect(seen.dispatches.map(({ decision }) => decision.code)).toContain('guard.depth')
  })
})

describe('an agent hook is checked when it is saved', () => {
  test.each([
    [undefined, 'config.field'],
    [{}, 'config.field'],
    [{ agent_name: 5 }, 'config.field'],
    [{ agent_name: 'a', format: 'xml' }, 'config.field'],
    [{ agent_name: 'a', output_schema: { pattern: '(?!a)' } }, 'agent.schema'],
    [{ agent_name: 'a', input_schema: 'x' }, 'agent.schema'],
  ])('%j is refused', (config, code) => {
    expect(() => createAgentTest(() => ({}), { config })).toThrow(expect.objectContaining({ code }))
  })
})

describe('OH-37 an agent of the OpenHarness form', () => {
  const config = { format: 'openharness', prompt: 'Fine? {tool_name}' }
  const definition = { id: 'o', event: 'pre_tool_use', handler_type: 'agent', config }

  test('OH-36 is one question, asked for more care', async () => {
    const { fake } = await createPromptTest([{ text: '{"ok": false, "reason": "careful"}' }])
    const hooks = createHooks({ handlers: [agentHandler.create({ models: modelsOf(fake) })] })
    hooks.add(definition)
    const decision = await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} })
    expect(decision).toMatchObject({ kind: 'block', reason: 'careful' })
    expect(fake.requests).toMatchObject([{ user: 'Fine? Bash', tools: [] }])
    expect(fake.requests[0]?.system).toContain('reason about it before you answer')
  })

  test('needs a model', async () => {
    const hooks = createHooks({ handlers: [agentHandler.create({})] })
    hooks.add(definition)
    const decision = await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} })
    expect(decision).toMatchObject({ kind: 'block', code: 'prompt.model' })
  })
})
