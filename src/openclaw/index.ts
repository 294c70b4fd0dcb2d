/** `hookhelm/openclaw`: a drop-in replacement for OpenClaw's hook runner. */
export {
  BLOCK_MESSAGE_PREFIX,
  type GateHookResult,
  type HookDecision,
  type HookDecisionBlock,
  type HookDecisionPass,
  type InputGateDecision,
  isHookDecision,
  mergeHookDecisions,
  resolveBlockMessage,
} from '../engine/events/openclaw/gate-decision.ts'
export type { HookFailurePolicy } from './hook-rules.ts'
export { createHookRunner } from './runner.ts'
export type {
  PluginHookAgentContext,
  PluginHookBeforeDispatchContext,
  PluginHookBeforeInstallContext,
  PluginHookGatewayContext,
  PluginHookInboundClaimContext,
  PluginHookMessageContext,
  PluginHookReplyDispatchContext,
  PluginHookSessionContext,
  PluginHookSubagentContext,
  PluginHookToolContext,
  PluginHookToolResultPersistContext,
} from './shape/contexts.ts'
export type {
  GlobalHookRunnerRegistry,
  HookRunner,
  HookRunnerLogger,
  HookRunnerOptions,
  HookRunnerRegistry,
  PluginHookHandlerMap,
  PluginHookRegistration,
  SubagentLifecycleHookRunner,
} from './shape/hook-runner.ts'
export type { PluginHookName } from './shape/hook-shape.ts'
export type * from './shape/hook-types.ts'
