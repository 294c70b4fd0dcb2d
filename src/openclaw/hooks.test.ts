import { describe, expect, test } from 'vitest'
import { examples } from '../../test/openclaw/examples.fixture.ts'
import { createHookRunner, type GlobalHookRunnerRegistry } from './index.ts'

const hooks = [
  ['OC-21', 'before_model_resolve', 'runBeforeModelResolve'],
  ['OC-22', 'agent_turn_prepare', 'runAgentTurnPrepare'],
  ['OC-23', 'before_prompt_build', 'runBeforePromptBuild'],
  ['OC-24', 'before_agent_start', 'runBeforeAgentStart'],
  ['OC-25', 'before_agent_run', 'runBeforeAgentRun'],
  ['OC-26', 'before_agent_reply', 'runBeforeAgentReply'],
  ['OC-27', 'before_agent_finalize', 'runBeforeAgentFinalize'],
  ['OC-28', 'model_call_started', 'runModelCallStarted'],
  ['OC-29', 'model_call_ended', 'runModelCallEnded'],
  ['OC-30', 'llm_input', 'runLlmInput'],
  ['OC-31', 'llm_output', 'runLlmOutput'],
  ['OC-32', 'agent_end', 'runAgentEnd'],
  ['OC-33', 'before_compaction', 'runBeforeCompaction'],
  ['OC-34', 'after_compaction', 'runAfterCompaction'],
  ['OC-35', 'before_reset', 'runBeforeReset'],
  ['OC-36', 'inbound_claim', 'runInboundClaim'],
  ['OC-37', 'message_received', 'runMessageReceived'],
  ['OC-38', 'before_dispatch', 'runBeforeDispatch'],
  ['OC-39', 'reply_dispatch', 'runReplyDispatch'],
  ['OC-40', 'message_sending', 'runMessageSending'],
  ['OC-41', 'message_sent', 'runMessageSent'],
  ['OC-42', 'before_tool_call', 'runBeforeToolCall'],
  ['OC-43', 'after_tool_call', 'runAfterToolCall'],
  ['OC-44', 'tool_result_persist', 'runToolResultPersist'],
  ['OC-45', 'before_message_write', 'runBeforeMessageWrite'],
  ['OC-46', 'session_start', 'runSessionStart'],
  ['OC-47', 'session_end', 'runSessionEnd'],
  ['OC-48', 'subagent_spawning', 'runSubagentSpawning'],
  ['OC-49', 'subagent_delivery_target', 'runSubagentDeliveryTarget'],
  ['OC-50', 'subagent_spawned', 'runSubagentSpawned'],
  ['OC-50', 'subagent_ended', 'runSubagentEnded'],
  ['OC-51', 'gateway_start', 'runGatewayStart'],
  ['OC-51', 'gateway_stop', 'runGatewayStop'],
  ['OC-51', 'cron_changed', 'runCronChanged'],
  ['OC-51', 'heartbeat_prompt_contribution', 'runHeartbeatPromptContribution'],
  ['OC-51', 'before_install', 'runBeforeInstall'],
] as const

/** Void hooks: all handlers start together, and nothing of what they return counts. */
const voidHooks: readonly string[] = [
  ...['model_call_started', 'model_call_ended', 'llm_input', 'llm_output', 'agent_end', 'before_reset'],
  ...['before_compaction', 'after_compaction', 'message_received', 'message_sent', 'after_tool_call'],
  ...['session_start', 'session_end', 'subagent_spawned', 'subagent_ended'],
  ...['gateway_start', 'gateway_stop', 'cron_changed'],
]

/** Whatever any hook could return that counts. */
const everyAnswer = {
  ...{ modelOverride: 'm', prependContext: 'c', systemPrompt: 's', content: 'c', cancel: true, block: true },
  ...{ handled: true, reply: {}, action: 'finalize', outcome: 'pass', params: {}, message: {} },
}

// One caller for all 36: each method has its own types, which `index.test-d.ts` looks after.
type AnyMethod = (event: unknown, ctx: unknown) => unknown
const methodOf = (registry: GlobalHookRunnerRegistry, method: string) =>
  (createHookRunner(registry) as unknown as Record<string, AnyMethod>)[method]

describe('the 36 hooks', () => {
  test.each(hooks)('%s %s is run by %s, with what the host gave', async (_, hookName, method) => {
    const seen: unknown[] = []
    const handler = (event: unknown, ctx: unknown) => void seen.push(event, ctx)
    const other = () => seen.push('a handler of another hook')
    const typedHooks = [
      { pluginId: 'p', hookName, handler, source: 'test' },
      {
        pluginId: 'p',
        hookName: hookName === 'llm_input' ? 'llm_output' : 'llm_input',
        handler: other,
        source: 'test',
      },
    ]
    const registry = { plugins: [], hooks: [], typedHooks } as unknown as GlobalHookRunnerRegistry
    const event = { ...examples[hookName]?.least, ...examples[hookName]?.more }
    const ctx = { sessionKey: 'k' }
    await methodOf(registry, method)?.(event, ctx)
    expect(seen).toEqual([event, ctx])
    expect(seen[1]).toBe(ctx)
  })

  test.each(hooks.filter(([, hookName]) => voidHooks.includes(hookName)))(
    '%s %s starts all handlers of %s together and ignores their results',
    async (_, hookName, method) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      const started: string[] = []
      const typedHooks = ['first', 'second'].map((pluginId) => {
        const handler = async () => {
          started.push(pluginId)
          await released
          return everyAnswer
        }
        return { pluginId, hookName, handler, source: 'test' }
      })
      const registry = { plugins: [], hooks: [], typedHooks } as unknown as GlobalHookRunnerRegistry
      const answer = methodOf(registry, method)?.({ ...examples[hookName]?.least }, {})
      await new Promise(setImmediate)
      expect(started).toEqual(['first', 'second'])
      release()
      expect(await answer).toBeUndefined()
    },
  )

  test('there are 36 of them, and four methods more', () => {
    const runner = createHookRunner({ plugins: [], hooks: [], typedHooks: [] })
    expect(Object.keys(runner).sort()).toEqual(
      [
        ...hooks.map(([, , method]) => method),
        'runInboundClaimForPlugin',
        'runInboundClaimForPluginOutcome',
        'hasHooks',
        'getHookCount',
      ].sort(),
    )
  })
})
