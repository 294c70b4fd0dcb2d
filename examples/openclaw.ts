/** The OpenClaw door: plugins register typed hooks, the host runs them by name. */
// In your own program: from 'hookhelm/openclaw'
import { createHookRunner, type GlobalHookRunnerRegistry } from '../src/openclaw/index.ts'

const registry: GlobalHookRunnerRegistry = {
  plugins: [{ id: 'guard', status: 'loaded' }],
  hooks: [],
  typedHooks: [
    {
      pluginId: 'guard',
      hookName: 'before_tool_call',
      handler: ({ params }) =>
        params.command === 'rm -rf /' ? { block: true, blockReason: 'not this one' } : undefined,
      priority: 10,
      source: 'example',
    },
    {
      pluginId: 'guard',
      hookName: 'message_sending',
      handler: ({ content }) => ({ content: content.replaceAll('secret', '******') }),
      source: 'example',
    },
  ],
}

const runner = createHookRunner(registry, { logger: { warn: console.warn, error: console.error } })

for (const command of ['ls', 'rm -rf /']) {
  const event = { toolName: 'exec', params: { command } }
  const result = await runner.runBeforeToolCall(event, { toolName: 'exec' })
  console.log(`${command}: ${result?.block ? `blocked, ${result.blockReason}` : 'goes ahead'}`)
}

const message = { to: 'you', content: 'the secret is out' }
const sending = await runner.runMessageSending(message, { channelId: 'chat' })
console.log(`sends: ${sending?.content}`)

// The registry is read live: what a plugin adds later runs from then on.
registry.typedHooks.push({
  pluginId: 'guard',
  hookName: 'agent_end',
  handler: ({ success }) => console.log(`agent ended, ${success ? 'well' : 'badly'}`),
  source: 'example',
})
console.log(`hooks on agent_end: ${runner.getHookCount('agent_end')}`)
await runner.runAgentEnd({ messages: [], success: true }, {})
