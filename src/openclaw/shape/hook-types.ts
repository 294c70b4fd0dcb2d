import type { PluginHookEventOf, PluginHookResultOf } from './hook-shape.ts'

/** The event that handlers of `before_model_resolve` receive. */
export type PluginHookBeforeModelResolveEvent = PluginHookEventOf<'before_model_resolve'>
/** The event that handlers of `agent_turn_prepare` receive. */
export type PluginAgentTurnPrepareEvent = PluginHookEventOf<'agent_turn_prepare'>
/** The event that handlers of `before_prompt_build` receive. */
export type PluginHookBeforePromptBuildEvent = PluginHookEventOf<'before_prompt_build'>
/** The event that handlers of `heartbeat_prompt_contribution` receive. */
export type PluginHeartbeatPromptContributionEvent = PluginHookEventOf<'heartbeat_prompt_contribution'>
/** The event that handlers of `before_agent_start` receive. */
export type PluginHookBeforeAgentStartEvent = PluginHookEventOf<'before_agent_start'>
/** The event that handlers of `before_agent_run` receive. */
export type PluginHookBeforeAgentRunEvent = PluginHookEventOf<'before_agent_run'>
/** The event that handlers of `before_agent_reply` receive. */
export type PluginHookBeforeAgentReplyEvent = PluginHookEventOf<'before_agent_reply'>
/** The event that handlers of `before_agent_finalize` receive. */
export type PluginHookBeforeAgentFinalizeEvent = PluginHookEventOf<'before_agent_finalize'>
/** The event that handlers of `agent_end` receive. */
export type PluginHookAgentEndEvent = PluginHookEventOf<'agent_end'>
/** The event that handlers of `model_call_started` receive. */
export type PluginHookModelCallStartedEvent = PluginHookEventOf<'model_call_started'>
/** The event that handlers of `model_call_ended` receive. */
export type PluginHookModelCallEndedEvent = PluginHookEventOf<'model_call_ended'>
/** The event that handlers of `llm_input` receive. */
export type PluginHookLlmInputEvent = PluginHookEventOf<'llm_input'>
/** The event that handlers of `llm_output` receive. */
export type PluginHookLlmOutputEvent = PluginHookEventOf<'llm_output'>
/** The event that handlers of `before_compaction` receive. */
export type PluginHookBeforeCompactionEvent = PluginHookEventOf<'before_compaction'>
/** The event that handlers of `after_compaction` receive. */
export type PluginHookAfterCompactionEvent = PluginHookEventOf<'after_compaction'>
/** The event that handlers of `before_reset` receive. */
export type PluginHookBeforeResetEvent = PluginHookEventOf<'before_reset'>
/** The event that handlers of `inbound_claim` receive. */
export type PluginHookInboundClaimEvent = PluginHookEventOf<'inbound_claim'>
/** The event that handlers of `message_received` receive. */
export type PluginHookMessageReceivedEvent = PluginHookEventOf<'message_received'>
/** The event that handlers of `before_dispatch` receive. */
export type PluginHookBeforeDispatchEvent = PluginHookEventOf<'before_dispatch'>
/** The event that handlers of `reply_dispatch` receive. */
export type PluginHookReplyDispatchEvent = PluginHookEventOf<'reply_dispatch'>
/** The event that handlers of `message_sending` receive. */
export type PluginHookMessageSendingEvent = PluginHookEventOf<'message_sending'>
/** The event that handlers of `message_sent` receive. */
export type PluginHookMessageSentEvent = PluginHookEventOf<'message_sent'>
/** The event that handlers of `before_message_write` receive. */
export type PluginHookBeforeMessageWriteEvent = PluginHookEventOf<'before_message_write'>
/** The event that handlers of `before_tool_call` receive. */
export type PluginHookBeforeToolCallEvent = PluginHookEventOf<'before_tool_call'>
/** The event that handlers of `after_tool_call` receive. */
export type PluginHookAfterToolCallEvent = PluginHookEventOf<'after_tool_call'>
/** The event that handlers of `tool_result_persist` receive. */
export type PluginHookToolResultPersistEvent = PluginHookEventOf<'tool_result_persist'>
/** The event that handlers of `session_start` receive. */
export type PluginHookSessionStartEvent = PluginHookEventOf<'session_start'>
/** The event that handlers of `session_end` receive. */
export type PluginHookSessionEndEvent = PluginHookEventOf<'session_end'>
/** The event that handlers of `subagent_spawning` receive. */
export type PluginHookSubagentSpawningEvent = PluginHookEventOf<'subagent_spawning'>
/** The event that handlers of `subagent_delivery_target` receive. */
export type PluginHookSubagentDeliveryTargetEvent = PluginHookEventOf<'subagent_delivery_target'>
/** The event that handlers of `subagent_spawned` receive. */
export type PluginHookSubagentSpawnedEvent = PluginHookEventOf<'subagent_spawned'>
/** The event that handlers of `subagent_ended` receive. */
export type PluginHookSubagentEndedEvent = PluginHookEventOf<'subagent_ended'>
/** The event that handlers of `gateway_start` receive. */
export type PluginHookGatewayStartEvent = PluginHookEventOf<'gateway_start'>
/** The event that handlers of `gateway_stop` receive. */
export type PluginHookGatewayStopEvent = PluginHookEventOf<'gateway_stop'>
/** The event that handlers of `cron_changed` receive. */
export type PluginHookCronChangedEvent = PluginHookEventOf<'cron_changed'>
/** The event that handlers of `before_install` receive. */
export type PluginHookBeforeInstallEvent = PluginHookEventOf<'before_install'>

export type {
  CronDeliveryStatus as PluginHookGatewayCronDeliveryStatus,
  CronJobState as PluginHookGatewayCronJobState,
  CronRunStatus as PluginHookGatewayCronRunStatus,
} from '../../engine/events/openclaw/gateway.ts'

/** What a handler of `before_model_resolve` may return. */
export type PluginHookBeforeModelResolveResult = PluginHookResultOf<'before_model_resolve'>
/** What a handler of `agent_turn_prepare` may return. */
export type PluginAgentTurnPrepareResult = PluginHookResultOf<'agent_turn_prepare'>
/** What a handler of `before_prompt_build` may return. */
export type PluginHookBeforePromptBuildResult = PluginHookResultOf<'before_prompt_build'>
/** What a handler of `heartbeat_prompt_contribution` may return. */
export type PluginHeartbeatPromptContributionResult = PluginHookResultOf<'heartbeat_prompt_contribution'>
/** What a handler of `before_agent_start` may return. */
export type PluginHookBeforeAgentStartResult = PluginHookResultOf<'before_agent_start'>
/** What a handler of `before_agent_reply` may return. */
export type PluginHookBeforeAgentReplyResult = PluginHookResultOf<'before_agent_reply'>
/** What a handler of `before_agent_finalize` may return. */
export type PluginHookBeforeAgentFinalizeResult = PluginHookResultOf<'before_agent_finalize'>
/** What a handler of `inbound_claim` may return. */
export type PluginHookInboundClaimResult = PluginHookResultOf<'inbound_claim'>
/** What a handler of `before_dispatch` may return. */
export type PluginHookBeforeDispatchResult = PluginHookResultOf<'before_dispatch'>
/** What a handler of `reply_dispatch` may return. */
export type PluginHookReplyDispatchResult = PluginHookResultOf<'reply_dispatch'>
/** What a handler of `message_sending` may return. */
export type PluginHookMessageSendingResult = PluginHookResultOf<'message_sending'>
/** What a handler of `before_message_write` may return. */
export type PluginHookBeforeMessageWriteResult = PluginHookResultOf<'before_message_write'>
/** What a handler of `before_tool_call` may return. */
export type PluginHookBeforeToolCallResult = PluginHookResultOf<'before_tool_call'>
/** What a handler of `tool_result_persist` may return. */
export type PluginHookToolResultPersistResult = PluginHookResultOf<'tool_result_persist'>
/** What a handler of `subagent_spawning` may return. */
export type PluginHookSubagentSpawningResult = PluginHookResultOf<'subagent_spawning'>
/** What a handler of `subagent_delivery_target` may return. */
export type PluginHookSubagentDeliveryTargetResult = PluginHookResultOf<'subagent_delivery_target'>
/** What a handler of `before_install` may return. */
export type PluginHookBeforeInstallResult = PluginHookResultOf<'before_install'>

/** The outcome of an inbound claim that was offered to one plugin. */
export type PluginTargetedInboundClaimOutcome =
  | { status: 'handled'; result: PluginHookInboundClaimResult }
  | { status: 'missing_plugin' }
  | { status: 'no_handler' }
  | { status: 'declined' }
  | { status: 'error'; error: string }
