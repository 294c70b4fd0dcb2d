/** For each hook the smallest event it accepts, and what else an event may carry. */
const spawn = { childSessionKey: 'agent:main:sub', agentId: 'main', mode: 'run', threadRequested: false }
const spawnMore = { label: 'research', requester: { channel: 'forum', threadId: 4 } }
const trace = { trace: { flags: '01' }, traceId: 't', spanId: 's', parentSpanId: 'p' }
const modelCall = { runId: 'r', callId: 'c', provider: 'acme', model: 'm1' }
const modelCallMore = { sessionKey: 'k', sessionId: 's', api: 'chat', transport: 'sse' }
const exchange = { runId: 'r', sessionId: 's', provider: 'acme', model: 'm1' }
const toolCall = { toolName: 'exec', params: { command: 'ls' } }

interface Example {
  readonly least: Readonly<Record<string, unknown>>
  readonly more: Readonly<Record<string, unknown>>
}

export const examples: Readonly<Record<string, Example>> = {
  before_model_resolve: { least: { prompt: 'hi' }, more: { attachments: [{ kind: 'image' }] } },
  agent_turn_prepare: { least: { prompt: 'hi', messages: [], queuedInjections: [] }, more: {} },
  before_prompt_build: { least: { prompt: 'hi', messages: [] }, more: {} },
  before_agent_start: { least: { prompt: 'hi' }, more: { runId: 'r', messages: [] } },
  before_agent_run: {
    least: { prompt: 'hi', messages: [] },
    more: { systemPrompt: 's', accountId: 'a', channelId: 'c', senderId: 'u', senderIsOwner: true },
  },
  before_agent_reply: { least: { cleanedBody: 'hi' }, more: {} },
  before_agent_finalize: {
    least: { sessionId: 's', stopHookActive: false },
    more: {
      runId: 'r',
      sessionKey: 'k',
      turnId: 't',
      provider: 'acme',
      model: 'm1',
      cwd: '/repo',
      transcriptPath: '/t.jsonl',
      lastAssistantMessage: 'done',
      messages: [],
    },
  },
  model_call_started: { least: modelCall, more: modelCallMore },
  model_call_ended: {
    least: { ...modelCall, durationMs: 3, outcome: 'completed' },
    more: {
      ...modelCallMore,
      errorCategory: 'net',
      failureKind: 'timeout',
      requestPayloadBytes: 1,
      responseStreamBytes: 2,
      timeToFirstByteMs: 3,
      upstreamRequestIdHash: 'h',
    },
  },
  llm_input: {
    least: { ...exchange, prompt: 'hi', historyMessages: [], imagesCount: 0 },
    more: { systemPrompt: 's' },
  },
  llm_output: {
    least: { ...exchange, assistantTexts: ['ho'] },
    more: { resolvedRef: 'acme/m1', harnessId: 'h', prompt: 'hi', lastAssistant: {}, usage: { input: 1 } },
  },
  agent_end: { least: { messages: [], success: true }, more: { runId: 'r', error: 'e', durationMs: 1 } },
  before_compaction: {
    least: { messageCount: 2 },
    more: { compactingCount: 1, tokenCount: 9, messages: [], sessionFile: '/s' },
  },
  after_compaction: {
    least: { messageCount: 2, compactedCount: 1 },
    more: { tokenCount: 9, sessionFile: '/s' },
  },
  before_reset: { least: {}, more: { sessionFile: '/s', messages: [], reason: 'new' } },
  inbound_claim: {
    least: { content: 'hi', channel: 'forum', isGroup: false },
    more: {
      ...trace,
      body: 'b',
      bodyForAgent: 'b',
      transcript: 't',
      timestamp: 1,
      accountId: 'a',
      conversationId: 'c',
      parentConversationId: 'c0',
      senderId: 'u',
      senderName: 'U',
      senderUsername: 'u',
      threadId: 7,
      messageId: 'm',
      sessionKey: 'k',
      runId: 'r',
      commandAuthorized: true,
      wasMentioned: true,
      metadata: {},
    },
  },
  message_received: {
    least: { from: 'u', content: 'hi' },
    more: {
      ...trace,
      timestamp: 1,
      threadId: 't',
      messageId: 'm',
      senderId: 'u',
      sessionKey: 'k',
      runId: 'r',
      metadata: {},
    },
  },
  before_dispatch: {
    least: { content: 'hi' },
    more: { body: 'b', channel: 'forum', sessionKey: 'k', senderId: 'u', isGroup: true, timestamp: 1 },
  },
  reply_dispatch: {
    least: {
      ctx: {},
      inboundAudio: false,
      shouldRouteToOriginating: false,
      shouldSendToolSummaries: true,
      sendPolicy: 'allow',
    },
    more: {
      runId: 'r',
      sessionKey: 'k',
      images: [],
      sessionTtsAuto: 'off',
      ttsChannel: 'c',
      suppressUserDelivery: true,
      suppressReplyLifecycle: true,
      sourceReplyDeliveryMode: 'automatic',
      originatingChannel: 'forum',
      originatingTo: 'u',
      isTailDispatch: true,
    },
  },
  message_sending: {
    least: { to: 'u', content: 'hi' },
    more: { replyToId: 'm', threadId: 3, metadata: {} },
  },
  message_sent: {
    least: { to: 'u', content: 'hi', success: true },
    more: { ...trace, messageId: 'm', sessionKey: 'k', runId: 'r', error: 'e' },
  },
  before_tool_call: { least: toolCall, more: { runId: 'r', toolCallId: 'c' } },
  after_tool_call: {
    least: toolCall,
    more: { runId: 'r', toolCallId: 'c', result: 'ok', error: 'e', durationMs: 2 },
  },
  tool_result_persist: {
    least: { message: { role: 'toolResult' } },
    more: { toolName: 'exec', toolCallId: 'c', isSynthetic: false },
  },
  before_message_write: { least: { message: { role: 'user' } }, more: { sessionKey: 'k', agentId: 'main' } },
  session_start: { least: { sessionId: 's' }, more: { sessionKey: 'k', resumedFrom: 'old' } },
  session_end: {
    least: { sessionId: 's', messageCount: 4 },
    more: {
      sessionKey: 'k',
      durationMs: 2,
      reason: 'idle',
      sessionFile: '/s',
      transcriptArchived: true,
      nextSessionId: 's2',
      nextSessionKey: 'k2',
    },
  },
  subagent_spawning: { least: spawn, more: spawnMore },
  subagent_delivery_target: {
    least: { childSessionKey: 'c', requesterSessionKey: 'r', expectsCompletionMessage: true },
    more: { requesterOrigin: { to: 'u' }, childRunId: 'r', spawnMode: 'session' },
  },
  subagent_spawned: { least: { ...spawn, runId: 'r' }, more: spawnMore },
  subagent_ended: {
    least: { targetSessionKey: 'k', targetKind: 'subagent', reason: 'done' },
    more: { sendFarewell: true, accountId: 'a', runId: 'r', endedAt: 1, outcome: 'ok', error: 'e' },
  },
  gateway_start: { least: { port: 1 }, more: {} },
  gateway_stop: { least: {}, more: { reason: 'sigterm' } },
  heartbeat_prompt_contribution: {
    least: {},
    more: { sessionKey: 'k', agentId: 'main', heartbeatName: 'h' },
  },
  cron_changed: {
    least: { action: 'added', jobId: 'j' },
    more: {
      job: { id: 'j' },
      sessionTarget: 'main',
      agentId: 'main',
      runAtMs: 1,
      durationMs: 1,
      status: 'ok',
      error: 'e',
      summary: 's',
      delivered: true,
      deliveryStatus: 'delivered',
      deliveryError: 'e',
      sessionId: 's',
      sessionKey: 'k',
      runId: 'r',
      nextRunAtMs: 2,
      model: 'm1',
      provider: 'acme',
    },
  },
  before_install: {
    least: {
      targetType: 'skill',
      targetName: 'demo',
      sourcePath: '/tmp/demo',
      sourcePathKind: 'directory',
      request: { kind: 'skill-install', mode: 'install' },
      builtinScan: { status: 'ok', scannedFiles: 1, critical: 0, warn: 0, info: 0, findings: [] },
    },
    more: {
      origin: 'workspace',
      skill: { installId: 'deps' },
      plugin: { pluginId: 'p', contentType: 'file' },
    },
  },
}
