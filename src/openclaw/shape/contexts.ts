import type { CronJob } from '../../engine/events/openclaw/gateway.ts'
import type { InstallRequestKind } from '../../engine/events/openclaw/install.ts'
import type { TraceContext } from '../../engine/events/openclaw/message-parts.ts'
import type { PluginHookName } from './hook-shape.ts'

export type PluginHookAgentContext = {
  runId?: string
  jobId?: string
  trace?: TraceContext
  agentId?: string
  sessionKey?: string
  sessionId?: string
  workspaceDir?: string
  modelProviderId?: string
  modelId?: string
  messageProvider?: string
  trigger?: string
  channelId?: string
}

export type PluginHookMessageContext = {
  channelId: string
  accountId?: string
  conversationId?: string
  sessionKey?: string
  runId?: string
  messageId?: string
  senderId?: string
  trace?: TraceContext
  traceId?: string
  spanId?: string
  parentSpanId?: string
  callDepth?: number
}

export type PluginHookInboundClaimContext = PluginHookMessageContext & {
  parentConversationId?: string
  pluginBinding?: object
}

export type PluginHookBeforeDispatchContext = {
  channelId?: string
  accountId?: string
  conversationId?: string
  sessionKey?: string
  senderId?: string
}

/** `cfg` and `dispatcher` are the host's own. */
export type PluginHookReplyDispatchContext = {
  cfg: object
  dispatcher: object
  abortSignal?: AbortSignal
  onReplyStart?: () => Promise<void> | void
  recordProcessed: (
    outcome: 'completed' | 'skipped' | 'error',
    details?: { reason?: string; error?: string },
  ) => void
  markIdle: (reason: string) => void
}

export type PluginHookToolContext = {
  toolName: string
  agentId?: string
  sessionKey?: string
  sessionId?: string
  runId?: string
  trace?: TraceContext
  toolCallId?: string
  getSessionExtension?: (namespace: string) => unknown
  channelId?: string
}

export type PluginHookToolResultPersistContext = {
  agentId?: string
  sessionKey?: string
  toolName?: string
  toolCallId?: string
}

export type PluginHookSessionContext = { agentId?: string; sessionId: string; sessionKey?: string }

export type PluginHookSubagentContext = {
  runId?: string
  childSessionKey?: string
  requesterSessionKey?: string
}

export type PluginHookGatewayContext = {
  port?: number
  config?: object
  workspaceDir?: string
  getCron?: () => CronService | undefined
}

interface CronService {
  list(options?: { includeDisabled?: boolean }): Promise<CronJob[]>
  add(job: object): Promise<unknown>
  update(id: string, change: object): Promise<unknown>
  remove(id: string): Promise<{ removed?: boolean }>
}

export type PluginHookBeforeInstallContext = {
  targetType: 'skill' | 'plugin'
  requestKind: InstallRequestKind
  origin?: string
}

interface OwnContexts {
  inbound_claim: PluginHookInboundClaimContext
  message_received: PluginHookMessageContext
  message_sending: PluginHookMessageContext
  message_sent: PluginHookMessageContext
  before_dispatch: PluginHookBeforeDispatchContext
  reply_dispatch: PluginHookReplyDispatchContext
  before_message_write: { agentId?: string; sessionKey?: string }
  before_tool_call: PluginHookToolContext
  after_tool_call: PluginHookToolContext
  tool_result_persist: PluginHookToolResultPersistContext
  session_start: PluginHookSessionContext
  session_end: PluginHookSessionContext
  subagent_spawning: PluginHookSubagentContext
  subagent_delivery_target: PluginHookSubagentContext
  subagent_spawned: PluginHookSubagentContext
  subagent_ended: PluginHookSubagentContext
  gateway_start: PluginHookGatewayContext
  gateway_stop: PluginHookGatewayContext
  cron_changed: PluginHookGatewayContext
  before_install: PluginHookBeforeInstallContext
}

/** Every other hook belongs to an agent's run. */
export type HookContext<K extends PluginHookName> = K extends keyof OwnContexts
  ? OwnContexts[K]
  : PluginHookAgentContext
