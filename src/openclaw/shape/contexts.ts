import type { CronJob } from '../../engine/events/openclaw/gateway.ts'
import type { InstallRequestKind } from '../../engine/events/openclaw/install.ts'
import type { TraceContext } from '../../engine/events/openclaw/message-parts.ts'
import type { PluginHookName } from './hook-shape.ts'

/** The context of every hook that belongs to a run of an agent. */
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

/** The context of `message_received`, `message_sending` and `message_sent`. */
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

/** The context of `inbound_claim`. */
export type PluginHookInboundClaimContext = PluginHookMessageContext & {
  parentConversationId?: string
  pluginBinding?: object
}

/** The context of `before_dispatch`. */
export type PluginHookBeforeDispatchContext = {
  channelId?: string
  accountId?: string
  conversationId?: string
  sessionKey?: string
  senderId?: string
}

/** The context of `reply_dispatch`. The host defines `cfg` and `dispatcher`. */
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

/** The context of `before_tool_call` and `after_tool_call`. */
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

/** The context of `tool_result_persist`. */
export type PluginHookToolResultPersistContext = {
  agentId?: string
  sessionKey?: string
  toolName?: string
  toolCallId?: string
}

/** The context of `session_start` and `session_end`. */
export type PluginHookSessionContext = { agentId?: string; sessionId: string; sessionKey?: string }

/** The context of the `subagent_…` hooks. */
export type PluginHookSubagentContext = {
  runId?: string
  childSessionKey?: string
  requesterSessionKey?: string
}

/** The context of `gateway_start`, `gateway_stop` and `cron_changed`. */
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

/** The context of `before_install`. */
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

/** The context of a hook. Hooks that are not listed above belong to an agent's run. */
export type PluginHookContextOf<K extends PluginHookName> = K extends keyof OwnContexts
  ? OwnContexts[K]
  : PluginHookAgentContext
