/** The door `hookhelm/openclaw`: OpenClaw's hook runner, to the letter. */
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
export type * from './shape/events.ts'
export type { PluginHookName } from './shape/hook-shape.ts'
export type {
  GlobalHookRunnerRegistry,
  HookRunnerRegistry,
  PluginHookHandlerMap,
  PluginHookRegistration,
} from './shape/registration.ts'
export type * from './shape/results.ts'
export type {
  HookRunner,
  HookRunnerLogger,
  HookRunnerOptions,
  SubagentLifecycleHookRunner,
} from './shape/runner.ts'
