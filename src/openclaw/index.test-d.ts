import { expectTypeOf, test } from 'vitest'
import type * as Door from './index.ts'
import { createHookRunner } from './index.ts'

type Named = {
  agent: Door.PluginHookAgentContext
  reply: [Door.PluginHookBeforeAgentReplyEvent, Door.PluginHookBeforeAgentReplyResult]
  start: [Door.PluginHookBeforeAgentStartEvent, Door.PluginHookBeforeAgentStartResult]
  dispatch: [
    Door.PluginHookBeforeDispatchContext,
    Door.PluginHookBeforeDispatchEvent,
    Door.PluginHookBeforeDispatchResult,
  ]
  replyDispatch: [
    Door.PluginHookReplyDispatchContext,
    Door.PluginHookReplyDispatchEvent,
    Door.PluginHookReplyDispatchResult,
  ]
  resolve: [Door.PluginHookBeforeModelResolveEvent, Door.PluginHookBeforeModelResolveResult]
  build: [Door.PluginHookBeforePromptBuildEvent, Door.PluginHookBeforePromptBuildResult]
  turn: [Door.PluginAgentTurnPrepareEvent, Door.PluginAgentTurnPrepareResult]
  heartbeat: [Door.PluginHeartbeatPromptContributionEvent, Door.PluginHeartbeatPromptContributionResult]
  model: [Door.PluginHookModelCallStartedEvent, Door.PluginHookModelCallEndedEvent]
  llm: [Door.PluginHookLlmInputEvent, Door.PluginHookLlmOutputEvent]
  finalize: [Door.PluginHookBeforeAgentFinalizeEvent, Door.PluginHookBeforeAgentFinalizeResult]
  end: Door.PluginHookAgentEndEvent
  compaction: [Door.PluginHookBeforeCompactionEvent, Door.PluginHookAfterCompactionEvent]
  reset: Door.PluginHookBeforeResetEvent
  inbound: [
    Door.PluginHookInboundClaimContext,
    Door.PluginHookInboundClaimEvent,
    Door.PluginHookInboundClaimResult,
    Door.PluginTargetedInboundClaimOutcome,
  ]
  messages: [
    Door.PluginHookMessageContext,
    Door.PluginHookMessageReceivedEvent,
    Door.PluginHookMessageSendingEvent,
    Door.PluginHookMessageSendingResult,
    Door.PluginHookMessageSentEvent,
  ]
  tools: [
    Door.PluginHookToolContext,
    Door.PluginHookBeforeToolCallEvent,
    Door.PluginHookBeforeToolCallResult,
    Door.PluginHookAfterToolCallEvent,
    Door.PluginHookToolResultPersistContext,
    Door.PluginHookToolResultPersistEvent,
    Door.PluginHookToolResultPersistResult,
  ]
  write: [Door.PluginHookBeforeMessageWriteEvent, Door.PluginHookBeforeMessageWriteResult]
  session: [Door.PluginHookSessionContext, Door.PluginHookSessionStartEvent, Door.PluginHookSessionEndEvent]
  subagent: [
    Door.PluginHookSubagentContext,
    Door.PluginHookSubagentDeliveryTargetEvent,
    Door.PluginHookSubagentDeliveryTargetResult,
    Door.PluginHookSubagentSpawningEvent,
    Door.PluginHookSubagentSpawningResult,
    Door.PluginHookSubagentSpawnedEvent,
    Door.PluginHookSubagentEndedEvent,
    Door.SubagentLifecycleHookRunner,
  ]
  gateway: [
    Door.PluginHookGatewayContext,
    Door.PluginHookGatewayStartEvent,
    Door.PluginHookGatewayStopEvent,
    Door.PluginHookCronChangedEvent,
    Door.PluginHookGatewayCronDeliveryStatus,
    Door.PluginHookGatewayCronJobState,
    Door.PluginHookGatewayCronRunStatus,
  ]
  install: [
    Door.PluginHookBeforeInstallContext,
    Door.PluginHookBeforeInstallEvent,
    Door.PluginHookBeforeInstallResult,
  ]
  gate: [
    Door.PluginHookBeforeAgentRunEvent,
    Door.GateHookResult<Door.InputGateDecision>,
    Door.HookDecision,
    Door.HookDecisionPass,
    Door.HookDecisionBlock,
  ]
  runner: [
    Door.HookRunner,
    Door.HookRunnerLogger,
    Door.HookRunnerOptions,
    Door.HookFailurePolicy,
    Door.HookRunnerRegistry,
    Door.GlobalHookRunnerRegistry,
    Door.PluginHookName,
    Door.PluginHookRegistration,
    Door.PluginHookHandlerMap,
  ]
}

const runner = createHookRunner({ plugins: [], hooks: [], typedHooks: [] })

test('every public type of the original has its name, and none is empty or anything', () => {
  type Flat<T> = T extends readonly unknown[] ? T[number] : T
  expectTypeOf<{ [K in keyof Named]: Flat<Named[K]> }[keyof Named]>().not.toBeAny()
  expectTypeOf<keyof Door.PluginHookHandlerMap>().toEqualTypeOf<Door.PluginHookName>()
})

test('methods know their event', () => {
  expectTypeOf(runner.runBeforeToolCall).parameter(0).toEqualTypeOf<Door.PluginHookBeforeToolCallEvent>()
  expectTypeOf(runner.runBeforeToolCall).parameter(1).toEqualTypeOf<Door.PluginHookToolContext>()
  expectTypeOf<Door.PluginHookBeforeToolCallEvent['params']>().toEqualTypeOf<Record<string, unknown>>()
  expectTypeOf<Door.PluginHookAgentEndEvent['messages']>().toEqualTypeOf<unknown[]>()
  expectTypeOf<Door.PluginHookSessionEndEvent>().toHaveProperty('messageCount')
  // @ts-expect-error an event without its tool name
  runner.runBeforeToolCall({ params: {} }, { toolName: 'exec' })
  // @ts-expect-error an event of another hook
  runner.runSessionStart({ toolName: 'exec', params: {} }, { sessionId: 's' })
})

test('methods know their answer', () => {
  expectTypeOf(runner.runBeforeToolCall).returns.resolves.toEqualTypeOf<
    Door.PluginHookBeforeToolCallResult | undefined
  >()
  expectTypeOf<NonNullable<Door.PluginHookBeforeToolCallResult['block']>>().toEqualTypeOf<boolean>()
  expectTypeOf(runner.runBeforeAgentRun).returns.resolves.toEqualTypeOf<
    Door.GateHookResult<Door.InputGateDecision> | undefined
  >()
  expectTypeOf(runner.runAgentEnd).returns.toEqualTypeOf<Promise<void>>()
  expectTypeOf(runner.runToolResultPersist).returns.toEqualTypeOf<
    Door.PluginHookToolResultPersistResult | undefined
  >()
  expectTypeOf<Door.PluginHookInboundClaimResult['handled']>().toEqualTypeOf<boolean>()
  expectTypeOf(
    runner.runInboundClaimForPluginOutcome,
  ).returns.resolves.toEqualTypeOf<Door.PluginTargetedInboundClaimOutcome>()
})

test('a registration knows its handler by the name of its hook', () => {
  const registrations: Door.PluginHookRegistration[] = [
    {
      pluginId: 'p',
      hookName: 'before_tool_call',
      source: 'test',
      handler: (event, ctx) => {
        expectTypeOf(event.toolName).toEqualTypeOf<string>()
        expectTypeOf(ctx).toEqualTypeOf<Door.PluginHookToolContext>()
        return { block: true }
      },
    },
    { pluginId: 'p', hookName: 'agent_end', source: 'test', handler: async () => {} },
    { pluginId: 'p', hookName: 'before_agent_run', source: 'test', handler: () => ({ outcome: 'pass' }) },
    // @ts-expect-error a run can be passed or blocked, not asked about
    { pluginId: 'p', hookName: 'before_agent_run', source: 'test', handler: () => ({ outcome: 'ask' }) },
  ]
  // @ts-expect-error where nothing can wait a promise is no answer
  const late: Door.PluginHookHandlerMap['tool_result_persist'] = async () => ({ message: {} })
  expectTypeOf(late).toBeFunction()
  expectTypeOf(registrations).items.toHaveProperty('pluginId')
  expectTypeOf<Door.PluginHookRegistration<'llm_input'>>().toExtend<Door.PluginHookRegistration>()
})
