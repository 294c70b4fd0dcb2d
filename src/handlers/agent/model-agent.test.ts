import { describe, expect, onTestFinished, test } from 'vitest'
import { createHooks } from '../../index.ts'
import { type FakeAnswer, type FakeRequest, fakeClock, startFakeModel } from '../../testing/index.ts'
import { modelsOf, providers } from '../prompt/prompt-hook.fixture.ts'
import { memoryTokenBudget } from '../prompt/token-budget.ts'
import { agentHandler } from './agent.ts'
import { type AgentHostOptions, createAgentHost } from './agent-host.ts'

const { signal } = new AbortController()
const request = { input: { parameters: { path: '/x' } }, depth: 1, parent_event_id: 'e', tenant_id: 't' }
const answer = (input: unknown): FakeAnswer => ({ calls: [{ tool: 'answer', input }] })
const call = (tool: string, input: unknown): FakeAnswer => ({ calls: [{ tool, input }] })

async function modelHost(
  script: readonly FakeAnswer[] | ((request: FakeRequest) => FakeAnswer),
  options: AgentHostOptions = {},
) {
  const fake = await startFakeModel({ script })
  onTestFinished(() => fake.close())
  const host = createAgentHost({ models: modelsOf(fake), ...options })
  const start = (more: object) => host.startAgent({ ...request, ...more }, signal)
  return { fake, host, start }
}

const lookedUp: unknown[] = []
const lookup = {
  description: 'Looks a path up.',
  input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  run: (input: unknown) => {
    lookedUp.push(input)
    return { owner: 'root' }
  },
}
const names = { anthropic: 'haiku', openai: 'gpt-4o', google: 'gemini-2', 'openai-compatible': 'qwen3' }

describe('a model agent', () => {
  test.each(providers)('of %s uses tools and answers', async (provider) => {
    lookedUp.length = 0
    const script = [call('lookup', { path: '/x' }), answer({ action: 'block', block_reason: 'root owns it' })]
    const { fake, start } = await modelHost(script, { tools: { lookup } })
    expect(await start({ prompt: 'Who owns it?', model: names[provider] })).toEqual({
      action: 'block',
      block_reason: 'root owns it',
    })
    expect(lookedUp).toEqual([{ path: '/x' }])
    expect(fake.requests).toHaveLength(2)
    expect(fake.requests[0]).toMatchObject({ provider, maxOutputTokens: 4_096, temperature: 0 })
    expect(fake.requests[0]?.tools.toSorted()).toEqual(['answer', 'lookup'])
    expect(fake.requests[0]?.user).toContain('Who owns it?')
    expect(fake.requests[0]?.user).toContain('{"parameters":{"path":"/x"}}')
    expect(fake.requests[1]?.text).toContain('root')
  })

  test('is told when it calls a tool wrongly, and may try again', async () => {
    lookedUp.length = 0
    const script = [call('lookup', { path: 7 }), call('lookup', { path: '/y' }), answer({ ok: true })]
    const { start } = await modelHost(script, { tools: { lookup } })
    expect(await start({ prompt: 'x' })).toEqual({ ok: true })
    expect(lookedUp).toEqual([{ path: '/y' }])
  })

  test('must answer in its last step', async () => {
    const tools = { lookup }
    const script = ({ forcedTool }: FakeRequest) =>
      forcedTool === 'answer' ? answer({ ok: true }) : call('lookup', { path: '/x' })
    const { fake, start } = await modelHost(script, { tools, maxSteps: 3 })
    expect(await start({ prompt: 'x' })).toEqual({ ok: true })
    expect(fake.requests.map(({ forcedTool }) => forcedTool)).toEqual([undefined, undefined, 'answer'])
  })

  test.each([
    ['talks', { text: 'Fine by me.' }],
    ['says nothing', {}],
    ['answers with broken JSON', { calls: [{ tool: 'answer', rawInput: '{"ok"' }] }],
  ])('4.6 #100 that %s has not answered', async (_, said) => {
    const { start } = await modelHost([said], { maxSteps: 2 })
    await expect(start({ prompt: 'x', model: 'gpt-4o' })).rejects.toMatchObject({
      code: 'agent.output_schema',
    })
  })

  test('4.6 #100 that answers past its schema has not answered', async () => {
    const output_schema = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] }
    const { start, fake } = await modelHost([answer({ score: 'high' }), answer({ score: 3 })])
    await expect(start({ prompt: 'x', output_schema })).rejects.toMatchObject({ code: 'agent.output_schema' })
    expect(await start({ prompt: 'x', output_schema })).toEqual({ score: 3 })
    expect(fake.requests[0]?.text).toContain('"score"')
  })

  test('has a name, a prompt and some of the tools', async () => {
    const agents = { auditor: { prompt: 'You audit.', model: 'gpt-4o', tools: [] } }
    const { start, fake } = await modelHost([answer({ ok: true })], { agents, tools: { lookup } })
    await start({ agent_name: 'auditor', prompt: 'Audit this.' })
    expect(fake.requests[0]).toMatchObject({ model: 'gpt-4o', tools: ['answer'] })
    expect(fake.requests[0]?.user).toMatch(/^You audit\.\n\nAudit this\./)
    for (const agent_name of ['nobody', 'constructor'])
      await expect(start({ agent_name, prompt: 'x' })).rejects.toMatchObject({ code: 'agent.unknown' })
    await expect(start({})).rejects.toMatchObject({ code: 'agent.unknown' })
  })

  test('fails with its provider, once', async () => {
    const { start, fake } = await modelHost([{ status: 529 }])
    await expect(start({ prompt: 'x' })).rejects.toMatchObject({
      code: 'agent.failed',
      message: expect.stringContaining('529'),
    })
    expect(fake.requests).toHaveLength(1)
  })

  test('draws on the token budget with every step', async () => {
    const budget = memoryTokenBudget({ total: 200, clock: fakeClock() })
    const script = [call('lookup', { path: '/x' }), answer({ ok: true })]
    const { start } = await modelHost(script, { budget, tools: { lookup } })
    await start({ prompt: 'x' })
    expect(budget.remaining('t')).toBe(-40)
    await expect(start({ prompt: 'x' })).rejects.toMatchObject({ code: 'prompt.budget' })
  })

  test('that a hook started is dropped at the deadline', async () => {
    const { host, fake } = await modelHost([{ hang: true }])
    const hooks = createHooks({ handlers: [agentHandler.create({})], host })
    const config = { prompt: 'Decide.' }
    hooks.add({ event: 'pre_tool_use', handler_type: 'agent', config, timeout_ms: 300 })
    const decision = await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} })
    expect(decision).toMatchObject({ kind: 'block', code: 'agent.timeout' })
    expect(await fake.requests[0]?.ended).toBe('dropped')
  })
})
