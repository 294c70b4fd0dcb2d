import { describe, expect, onTestFinished, test } from 'vitest'
import { modelsOf, providers } from '../../../test/handlers/prompt-hook.fixture.ts'
import { memoryTokenBudget } from '../../../test/memory-token-budget.fixture.ts'
import { agentHandler } from '../../handlers/agent/agent.ts'
import type { TokenBudget } from '../../handlers/prompt/token-budget.ts'
import { createHooks } from '../../index.ts'
import { type FakeAnswer, type FakeRequest, fakeClock, startFakeModel } from '../../testing/index.ts'
import { createPromptAgentHost } from './prompt-agent-host.ts'

const { signal } = new AbortController()
const request = { input: { parameters: { path: '/x' } }, depth: 1, parent_event_id: 'e', tenant_id: 't' }
const answer = (input: unknown): FakeAnswer => ({ calls: [{ tool: 'answer', input }] })

async function promptHost(
  script: readonly FakeAnswer[] | ((request: FakeRequest) => FakeAnswer),
  options: { readonly budget?: TokenBudget } = {},
) {
  const fake = await startFakeModel({ script })
  onTestFinished(() => fake.close())
  const host = createPromptAgentHost({ models: modelsOf(fake), ...options })
  const start = (more: object) => host.startAgent({ ...request, ...more }, signal)
  return { fake, host, start }
}

const names = { anthropic: 'haiku', openai: 'gpt-4o', google: 'gemini-2', 'openai-compatible': 'qwen3' }

describe('an agent that is a prompt', () => {
  test.each(providers)('of %s answers about the event', async (provider) => {
    const block = { action: 'block', block_reason: 'root owns it' }
    const { fake, start } = await promptHost([answer(block)])
    expect(await start({ prompt: 'Who owns it?', model: names[provider] })).toEqual(block)
    expect(fake.requests).toHaveLength(1)
    expect(fake.requests[0]).toMatchObject({
      provider,
      maxOutputTokens: 4_096,
      temperature: 0,
      tools: ['answer'],
    })
    expect(fake.requests[0]?.user).toContain('Who owns it?')
    expect(fake.requests[0]?.user).toContain('{"parameters":{"path":"/x"}}')
  })

  test.each([
    ['talks', { text: 'Fine by me.' }],
    ['says nothing', {}],
    ['answers with broken JSON', { calls: [{ tool: 'answer', rawInput: '{"ok"' }] }],
  ])('4.6 #100 that %s has not answered', async (_, said) => {
    const { start } = await promptHost([said])
    await expect(start({ prompt: 'x', model: 'gpt-4o' })).rejects.toMatchObject({
      code: 'agent.output_schema',
    })
  })

  test('4.6 #100 that answers past its schema has not answered', async () => {
    const output_schema = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] }
    const { start, fake } = await promptHost([answer({ score: 'high' }), answer({ score: 3 })])
    await expect(start({ prompt: 'x', output_schema })).rejects.toMatchObject({ code: 'agent.output_schema' })
    expect(await start({ prompt: 'x', output_schema })).toEqual({ score: 3 })
    expect(fake.requests[0]?.text).toContain('"score"')
  })

  test('4.6 #102 has no name: agents with names are runs', async () => {
    const { start, host } = await promptHost([answer({ ok: true })])
    for (const agent_name of ['nobody', 'constructor'])
      await expect(start({ agent_name, prompt: 'x' })).rejects.toMatchObject({ code: 'agent.unknown' })
    await expect(start({})).rejects.toMatchObject({ code: 'agent.unknown' })
    await expect(host.startAgent('run' as never, signal)).rejects.toMatchObject({ code: 'agent.unknown' })
  })

  test('fails with its provider, once', async () => {
    const { start, fake } = await promptHost([{ status: 529 }])
    await expect(start({ prompt: 'x' })).rejects.toMatchObject({
      code: 'agent.failed',
      message: expect.stringContaining('529'),
    })
    expect(fake.requests).toHaveLength(1)
  })

  test('draws on the token budget with every call', async () => {
    const budget = memoryTokenBudget({ total: 100, clock: fakeClock() })
    const { start } = await promptHost([answer({ ok: true })], { budget })
    await start({ prompt: 'x' })
    expect(budget.remaining('t')).toBe(-20)
    await expect(start({ prompt: 'x' })).rejects.toMatchObject({ code: 'prompt.budget' })
  })

  test('that a hook started is dropped at the deadline', async () => {
    const { host, fake } = await promptHost([{ hang: true }])
    const hooks = createHooks({ handlers: [agentHandler.create({})], host })
    const config = { prompt: 'Decide.' }
    hooks.add({ event: 'pre_tool_use', handler_type: 'agent', config, timeout_ms: 300 })
    const decision = await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} })
    expect(decision).toMatchObject({ kind: 'block', code: 'agent.timeout' })
    expect(await fake.requests[0]?.ended).toBe('dropped')
  })
})
