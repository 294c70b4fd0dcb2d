import type { HookResult } from './hook-shape.ts'

export type {
  CronDeliveryStatus as PluginHookGatewayCronDeliveryStatus,
  CronJobState as PluginHookGatewayCronJobState,
  CronRunStatus as PluginHookGatewayCronRunStatus,
} from '../../engine/events/openclaw/gateway.ts'

export type PluginHookBeforeModelResolveResult = HookResult<'before_model_resolve'>
export type PluginAgentTurnPrepareResult = HookResult<'agent_turn_prepare'>
export type PluginHookBeforePromptBuildResult = HookResult<'before_prompt_build'>
export type PluginHeartbeatPromptContributionResult = HookResult<'heartbeat_prompt_contribution'>
export type PluginHookBeforeAgentStartResult = HookResult<'before_agent_start'>
export type PluginHookBeforeAgentReplyResult = HookResult<'before_agent_reply'>
export type PluginHookBeforeAgentFinalizeResult = HookResult<'before_agent_finalize'>
export type PluginHookInboundClaimResult = HookResult<'inbound_claim'>
export type PluginHookBeforeDispatchResult = HookResult<'before_dispatch'>
export type PluginHookReplyDispatchResult = HookResult<'reply_dispatch'>
export type PluginHookMessageSendingResult = HookResult<'message_sending'>
export type PluginHookBeforeMessageWriteResult = HookResult<'before_message_write'>
export type PluginHookBeforeToolCallResult = HookResult<'before_tool_call'>
export type PluginHookToolResultPersistResult = HookResult<'tool_result_persist'>
export type PluginHookSubagentSpawningResult = HookResult<'subagent_spawning'>
export type PluginHookSubagentDeliveryTargetResult = HookResult<'subagent_delivery_target'>
export type PluginHookBeforeInstallResult = HookResult<'before_install'>

/** How an inbound claim that one plugin was asked for came out. */
export type PluginTargetedInboundClaimOutcome =
  | { status: 'handled'; result: PluginHookInboundClaimResult }
  | { status: 'missing_plugin' }
  | { status: 'no_handler' }
  | { status: 'declined' }
  | { status: 'error'; error: string }
