import { openai } from '@ai-sdk/openai'
import { Agent, tool as agentsTool, type Runner } from '@openai/agents'
import { generateText, isStepCount, tool } from 'ai'
import { type AgentMiddleware, createAgent, tool as langchainTool } from 'langchain'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../src/client/index.ts'
import { block, createHooks } from '../../src/index.ts'
import { createAiSdkSession } from '../../src/sdk/ai-sdk.ts'
import { createClaudeHooks, type HookMatcher } from '../../src/sdk/claude-agent-sdk.ts'
import { createHooksMiddleware } from '../../src/sdk/langchain.ts'
import { createAgentsSession } from '../../src/sdk/openai-agents.ts'

const hooks = createHooks()
hooks.on('pre_tool_use', { matcher: 'deploy(prod*)' }, () => block('production is closed today'))
const schema = z.object({ command: z.string() })

test('sources.ts: every door takes hooks or a client, and not both', () => {
  const client = createClient({ token: process.env.HOOKHELM_TOKEN ?? '' })
  createAiSdkSession({ hooks })
  createAiSdkSession({ client })
  // @ts-expect-error one source of decisions
  createAiSdkSession({ hooks, client })
  // @ts-expect-error a source of decisions
  createHooksMiddleware({})
})

test('ai-sdk.ts', async () => {
  const deploy = tool({
    description: 'Deploys to a stage.',
    inputSchema: schema,
    execute: ({ command }) => `deployed to ${command}`,
  })
  const session = createAiSdkSession({ hooks, agent: 'releaser' })
  const { text } = await generateText({
    model: session.model(openai('gpt-5')),
    ...session.guard({ deploy }),
    prompt: 'Deploy to prod.',
    stopWhen: isStepCount(5),
  })
  expectTypeOf(text).toEqualTypeOf<string>()
  expectTypeOf(session.end()).resolves.toEqualTypeOf<void>()
})

test('langchain.ts', () => {
  const deploy = langchainTool(({ command }) => `deployed to ${command}`, {
    name: 'deploy',
    description: 'Deploys to a stage.',
    schema,
  })
  const middleware = createHooksMiddleware({ hooks, agent: 'releaser' })
  expectTypeOf(middleware).toExtend<AgentMiddleware>()
  createAgent({ model: 'openai:gpt-5', tools: [deploy], middleware: [middleware] })
})

test('openai-agents.ts', async () => {
  const deploy = agentsTool({
    name: 'deploy',
    description: 'Deploys to a stage.',
    parameters: schema,
    execute: ({ command }) => `deployed to ${command}`,
  })
  const session = createAgentsSession({ hooks })
  const agent = new Agent({ name: 'releaser', model: 'gpt-5', tools: [deploy] })
  expectTypeOf(session.runner()).toEqualTypeOf<Runner>()
  const { finalOutput } = await session.runner().run(agent, 'Deploy to prod.')
  expectTypeOf(finalOutput).toEqualTypeOf<string | undefined>()
})

test('the Claude Agent SDK gets its `hooks` option', () => {
  expectTypeOf(createClaudeHooks({ hooks })).toEqualTypeOf<Record<string, HookMatcher[]>>()
})

test('client.ts', async () => {
  const client = createClient({ token: process.env.HOOKHELM_TOKEN ?? '' })
  const payload = { tool_name: 'Bash', tool_input: { command: 'rm -rf build' } }
  const decision = await client.decide({ event: 'pre_tool_use', payload })
  expectTypeOf(decision.kind).toEqualTypeOf<'allow' | 'ask' | 'block'>()
  const { eventId } = await client.dispatch({
    event: 'post_tool_use',
    payload: { ...payload, tool_response: 'ok' },
  })
  expectTypeOf(eventId).toEqualTypeOf<string>()
})
